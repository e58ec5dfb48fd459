extension Inbox {
    package struct Damage {
        let reason: String
        /// The moved file is named after this time.
        let foundAt: Timestamp
        // State that this process read from the file before the damage.
        private(set) var ledger: InboxLedger?
        private(set) var installations: [Int64: String] = [:]
        private(set) var notices: [InboxNotice]?

        package init(reason: String, foundAt: Timestamp) { (self.reason, self.foundAt) = (reason, foundAt) }

        package mutating func remember(_ inbox: Inbox, installations: [Int64: String]) {
            self.ledger = inbox.ledger
            self.installations = installations
            self.notices = inbox.notices
        }
    }

    /// Moves a damaged file aside and puts a new one in its place. The new file gets every readable message that is not
    /// done, with its old number. Later messages get higher numbers. The last ``InboxNotice`` in the new file reports
    /// the replacement.
    ///
    /// No process may have the file open. A failure loses nothing, and another call with the same ``Damage/foundAt``
    /// continues.
    package static func replaceDamaged(
        _ path: String, configuration: Configuration, _ damage: Damage
    ) throws(InboxError) -> Inbox {
        let files = InboxReplacement(of: path, patience: configuration.busyTimeout)
        let isReplaced = try files.resumeReplacement(now: damage.foundAt)
        let isDamaged = try isReplaced ? self.isDamaged(path, configuration) : true
        if isDamaged {
            InboxFile.remove(files.partial)
            let aside = files.unusedDamagedPath(now: damage.foundAt)
            try self.salvage(path, into: files.partial, configuration, damage, keptAt: aside)
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

    private static func salvage(
        _ path: String, into partial: String, _ configuration: Configuration, _ damage: Damage, keptAt aside: String
    ) throws(InboxError) {
        let fresh = try Inbox(path: partial, configuration: configuration)
        let copy = "\(partial)-copy"
        defer { InboxFile.remove(copy) }
        try self.readable(path, into: fresh, at: partial, copy, damage).run(keptAt: aside)
        try fresh.writeLog(emptying: true)
    }

    /// If the damaged file's first page makes everything unreadable, reads a copy that has the new file's header or
    /// first page.
    private static func readable(
        _ path: String, into fresh: Inbox, at partial: String, _ copy: String, _ damage: Damage
    ) throws(InboxError) -> InboxSalvage {
        let mark = InboxMark(ofInboxAt: path)
        let salvage = InboxSalvage(from: path, into: fresh, damage, mark)
        let isGone = InboxFile.size(of: path) == 0 && InboxFile.size(of: path + "-wal") == 0
        guard !salvage.isReadable, !isGone else { return salvage }
        // The new file's first page may still be only in its log.
        try fresh.writeLog(emptying: true)
        guard let page = FirstPage(of: partial) else { return salvage }
        for isWhole in [false, true] where page.repair(path, to: copy, isWhole: isWhole) {
            let repaired = InboxSalvage(from: copy, into: fresh, damage, mark)
            if repaired.isReadable { return repaired }
        }
        return salvage
    }
}

/// Reports that a new file replaced a damaged or missing one. The notice stays in the new file until an agent has
/// reported it.
package struct InboxNotice: Equatable {
    package var path: String
    package var reason: String
    package var takenOver: Int
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
