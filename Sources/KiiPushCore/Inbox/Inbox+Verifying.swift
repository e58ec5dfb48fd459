extension Inbox {
    /// Reads every row, up to its payload, and holds the tables, their indexes and the ledger against each other.
    ///
    /// It takes about a second for a million rows. What a payload says, and pages that hold nothing but payloads, it does
    /// not look at.
    ///
    /// - Returns: the counts of the rows. Their bytes may differ from the ledger's.
    /// - Throws: ``InboxError``; `corrupt` for a page that cannot be read, and where rows are missing.
    @discardableResult
    package func verify() throws(InboxError) -> InboxCounts {
        try self.connection.execute("BEGIN", step: "looking at every message")
        // Nothing was changed.
        defer { try? self.connection.execute("COMMIT", step: "looking at every message") }
        let ledger = try self.statements.readLedger()
        let (counts, owners) = try self.countRows(through: ledger.lastSequence)
        guard RowState.allCases.allSatisfy({ counts[$0].rows == ledger.counts[$0].rows }) else {
            throw InboxError(.corrupt, step: "finding every message that the file counts")
        }
        let indexed = (
            try self.count(self.statements.openRows), try self.count(self.statements.retryRows),
            try self.count(self.statements.deadRows)
        )
        let open = [RowState.waiting, .inHand, .retry, .presented].reduce(0) { $0 + counts[$1].rows }
        guard indexed == (open, counts[.retry].rows, counts[.dead].rows) else {
            throw InboxError(.corrupt, step: "finding every message in the indexes")
        }
        try self.verifyInstallations(of: owners)
        _ = try self.statements.readNotices()
        return counts
    }

    /// - Returns: how many rows stand where, and the installations that they are for.
    private func countRows(through last: Int64) throws(InboxError) -> (InboxCounts, Set<Int64>) {
        let statement = self.statements.inspect
        defer { statement.reset() }
        var counts = InboxCounts()
        var installations: Set<Int64> = []
        var (former, formerInstallation): (Int64, Int64?) = (0, nil)
        while try statement.next() {
            let (sequence, installation) = (statement.integer(0), statement.integer(3))
            guard sequence > former, sequence <= last, let state = RowState(rawValue: statement.integer(1)),
                InboxCounts.rowBytes.contains(statement.integer(2))
            else { throw InboxError(.corrupt, step: "looking at every message") }
            counts.add(statement.integer(2), to: state)
            if installation != formerInstallation { installations.insert(installation) }
            (former, formerInstallation) = (sequence, installation)
        }
        return (counts, installations)
    }

    private func verifyInstallations(of rows: Set<Int64>) throws(InboxError) {
        let statement = self.statements.installations
        defer { statement.reset() }
        var present: Set<Int64> = []
        while try statement.next() { present.insert(statement.integer(0)) }
        let indexes = self.statements.installationsByIndex
        defer { indexes.reset() }
        guard rows.subtracting([InboxSchema.unknownInstallation]).isSubset(of: present), try indexes.next(),
            indexes.integer(0) == present.count, indexes.integer(1) == present.count
        else { throw InboxError(.corrupt, step: "finding whom the messages are for") }
    }

    private func count(_ statement: SQLiteStatement) throws(InboxError) -> Int64 {
        defer { statement.reset() }
        return try statement.next() ? statement.integer(0) : 0
    }
}
