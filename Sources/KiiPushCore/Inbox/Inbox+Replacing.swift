extension Inbox {
    /// What came of a damaged file.
    package struct Replacement {
        /// The new one, in its place.
        package let inbox: Inbox
        /// Where the damaged one is now.
        package let keptPath: String
        /// How many messages that were not done were taken over from it.
        package let takenOver: Int
        /// How many could not be read; `nil` when not even their number could.
        package let lost: Int?
    }

    /// What a process knows of a file that it has been working with.
    package struct Remembered {
        let ledger: InboxLedger
        /// Installations by key.
        let installations: [Int64: String]

        package var counts: InboxCounts { self.ledger.counts }
        package var messageLedger: MessageLedger { self.ledger.summary }
    }

    /// What is known of this file should it turn out to be damaged.
    package func remembered(installations: [Int64: String]) -> Remembered {
        Remembered(ledger: self.committedLedger, installations: installations)
    }

    /// Moves a damaged file aside, and puts a new one in its place with every message in it that can still be read and
    /// is not done: under its own number, in the order of reception. Numbers go on above the old ones.
    ///
    /// Nobody may have the file open. If this fails, nothing is lost: the damaged file is where it was, or moved aside
    /// with the whole new one beside it or in its place. Tried again with the same `now`, it goes on from there.
    ///
    /// - Parameters:
    ///   - path: the damaged file.
    ///   - configuration: how the new one is opened.
    ///   - remembered: what is known of the damaged one, if it was in use.
    ///   - now: when the damage was found, which names the file that is moved aside.
    package static func replaceDamaged(
        _ path: String, configuration: Configuration, remembered: Remembered? = nil, now: Timestamp
    ) throws(InboxError) -> Replacement {
        let files = InboxReplacement(of: path)
        if try files.finishEarlierTry(now: now), let inbox = try self.openUnlessDamaged(path, configuration) {
            let takenOver = Int(inbox.counts.rows)
            return Replacement(
                inbox: inbox, keptPath: files.asidePath(now), takenOver: takenOver,
                lost: remembered.map { max(0, Int($0.ledger.unfinished) - takenOver) })
        }
        files.removePartial()
        let (takenOver, lost) = try self.salvage(path, into: files.partial, configuration, remembered, now)
        let keptPath = try files.putInPlace(now: now)
        return Replacement(
            inbox: try Inbox(path: path, configuration: configuration), keptPath: keptPath, takenOver: takenOver,
            lost: lost)
    }

    private static func openUnlessDamaged(
        _ path: String, _ configuration: Configuration
    ) throws(InboxError) -> Inbox? {
        do throws(InboxError) {
            return try Inbox(path: path, configuration: configuration)
        } catch {
            guard error.kind == .corrupt else { throw error }
            return nil
        }
    }

    /// When this returns, the new file is closed and whole without its log.
    private static func salvage(
        _ path: String, into partial: String, _ configuration: Configuration, _ remembered: Remembered?,
        _ now: Timestamp
    ) throws(InboxError) -> (takenOver: Int, lost: Int?) {
        let fresh = try Inbox(path: partial, configuration: configuration)
        let copy = "\(partial)-copy"
        defer { FirstPage.remove(copy) }
        let salvage = try self.readable(path, into: fresh, at: partial, copy, remembered)
        try salvage.run(now: now)
        try self.writeLog(of: fresh)
        return (salvage.takenOver, salvage.lost)
    }

    private static func writeLog(of inbox: Inbox) throws(InboxError) {
        try inbox.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)", step: "writing the log into the file")
    }

    /// The damaged file or, where nothing can be read because of its first page, a copy with that of the new file.
    private static func readable(
        _ path: String, into fresh: Inbox, at partial: String, _ copy: String, _ remembered: Remembered?
    ) throws(InboxError) -> InboxSalvage {
        let salvage = InboxSalvage(from: path, into: fresh, remembered)
        guard !salvage.isReadable else { return salvage }
        // The page is in the log until then.
        try self.writeLog(of: fresh)
        guard let page = FirstPage(of: partial) else { return salvage }
        for isWhole in [false, true] where page.repair(path, to: copy, isWhole: isWhole) {
            let repaired = InboxSalvage(from: copy, into: fresh, remembered)
            if repaired.isReadable { return repaired }
        }
        return salvage
    }
}
