extension Inbox {
    /// A process's knowledge of a file that it has been using.
    package struct Remembered {
        let ledger: InboxLedger
        /// IDs of installations, by key.
        let installations: [Int64: String]
        let notices: [InboxNotice]
    }

    /// The knowledge of this file, in case it turns out to be damaged.
    package func remembered(installations: [Int64: String]) -> Remembered {
        Remembered(ledger: self.ledger, installations: installations, notices: self.notices)
    }

    /// Moves a damaged file aside, with its mark, and puts a new one in its place. The new file gets every message that
    /// can still be read and is not done, under its own number and in the order of reception. Numbers go on above the
    /// old ones, and above the mark. The last notice of the new file reports the replacement.
    ///
    /// Nobody may have the file open. If this fails, nothing is lost: the damaged file is where it was, or moved aside
    /// with the whole new one beside it or in its place. Another try with the same `now` goes on from there.
    ///
    /// - Parameters:
    ///   - remembered: the knowledge of the damaged file, if it was in use.
    ///   - now: when the damage was found. It names the file that is moved aside.
    package static func replaceDamaged(
        _ path: String, configuration: Configuration, remembered: Remembered? = nil, reason: String, now: Timestamp
    ) throws(InboxError) -> Inbox {
        let files = InboxReplacement(of: path, patience: configuration.busyTimeout)
        let isReplaced = try files.finishEarlierTry(now: now)
        let isDamaged = try isReplaced ? self.isDamaged(path, configuration) : true
        if isDamaged {
            files.remove(files.partial)
            let aside = files.freeAsidePath(now: now)
            try self.salvage(path, into: files.partial, configuration, remembered, keptAt: aside, reason, now)
            try files.putInPlace(aside: aside)
        }
        return try Inbox(path: path, configuration: configuration)
    }

    private static func isDamaged(_ path: String, _ configuration: Configuration) throws(InboxError) -> Bool {
        do throws(InboxError) {
            _ = try Inbox(path: path, configuration: configuration)
            return false
        } catch {
            guard error.kind == .corrupt else { throw error }
            return true
        }
    }

    /// Fills the new file. Afterwards, the file is closed, and whole without its log.
    private static func salvage(
        _ path: String, into partial: String, _ configuration: Configuration, _ remembered: Remembered?,
        keptAt aside: String, _ reason: String, _ now: Timestamp
    ) throws(InboxError) {
        let fresh = try Inbox(path: partial, configuration: configuration)
        let copy = "\(partial)-copy"
        defer { FirstPage.remove(copy) }
        try self.readable(path, into: fresh, at: partial, copy, remembered).run(now: now, keptAt: aside, reason: reason)
        try fresh.writeLog(emptying: true)
    }

    /// The damaged file or, if its first page makes everything unreadable, a copy with the first page of the new file.
    private static func readable(
        _ path: String, into fresh: Inbox, at partial: String, _ copy: String, _ remembered: Remembered?
    ) throws(InboxError) -> InboxSalvage {
        let mark = InboxMark(ofInboxAt: path)
        let salvage = InboxSalvage(from: path, into: fresh, remembered, mark)
        let isGone = InboxFile.size(of: path) == 0 && InboxFile.size(of: path + "-wal") == 0
        guard !salvage.isReadable, !isGone else { return salvage }
        // Until then, only the log has the page.
        try fresh.writeLog(emptying: true)
        guard let page = FirstPage(of: partial) else { return salvage }
        for isWhole in [false, true] where page.repair(path, to: copy, isWhole: isWhole) {
            let repaired = InboxSalvage(from: copy, into: fresh, remembered, mark)
            if repaired.isReadable { return repaired }
        }
        return salvage
    }
}

/// The notice that a new file replaces a damaged or missing one. The new file keeps it until an agent has told it.
package struct InboxNotice: Equatable {
    /// The path of the old file's remains.
    package var path: String
    package var reason: String
    /// The number of messages that the new file has from the old one.
    package var takenOver: Int
    /// The number of lost messages; `nil` if it is unknown.
    package var lost: Int?

    package init(path: String, reason: String, takenOver: Int, lost: Int?) {
        (self.path, self.reason, self.takenOver, self.lost) = (path, reason, takenOver, lost)
    }
}

extension InboxStatements {
    func readNotices() throws(InboxError) -> [InboxNotice] {
        try self.notices.all { row in
            InboxNotice(
                path: row.text(0) ?? "", reason: row.text(1) ?? "",
                takenOver: Int(clamping: row.integer(2, within: 0...(1 << 56))),
                lost: row.optionalInteger(3, within: 0...(1 << 56)).map { Int(clamping: $0) })
        }
    }
}
