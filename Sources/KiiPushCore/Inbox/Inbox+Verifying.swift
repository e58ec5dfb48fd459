extension Inbox {
    /// Reads every row, up to its payload, and holds the table, its indexes and the ledger against each other.
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
        let counts = try self.countRows(through: ledger.lastSequence)
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
        return counts
    }

    private func countRows(through last: Int64) throws(InboxError) -> InboxCounts {
        let statement = self.statements.inspect
        defer { statement.reset() }
        var counts = InboxCounts()
        var former: Int64 = 0
        while try statement.next() {
            let sequence = statement.integer(0)
            guard sequence > former, sequence <= last, let state = RowState(rawValue: statement.integer(1)),
                InboxCounts.rowBytes.contains(statement.integer(2))
            else { throw InboxError(.corrupt, step: "looking at every message") }
            counts.add(statement.integer(2), to: state)
            former = sequence
        }
        return counts
    }

    private func count(_ statement: SQLiteStatement) throws(InboxError) -> Int64 {
        defer { statement.reset() }
        return try statement.next() ? statement.integer(0) : 0
    }
}
