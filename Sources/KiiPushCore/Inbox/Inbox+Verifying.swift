extension Inbox {
    /// Reads every row, up to its payload, and holds the tables, their indexes and the ledger against each other.
    ///
    /// It takes about a second for a million rows. What a payload says, and pages that hold nothing but payloads, it
    /// does not look at.
    ///
    /// - Returns: the counts of the rows. Their bytes may differ from the ledger's.
    /// - Throws: ``InboxError``; `corrupt` for a page that cannot be read, and where rows are missing.
    @discardableResult
    package func verify() throws(InboxError) -> InboxCounts {
        try self.connection.execute("BEGIN", step: "looking at every message")
        // Nothing was changed.
        defer { try? self.connection.execute("COMMIT", step: "looking at every message") }
        let ledger = try self.statements.readLedger()
        let (counts, sums, waiting, owners) = try self.countRows(through: ledger.lastSequence)
        guard RowState.allCases.allSatisfy({ counts[$0].rows == ledger.counts[$0].rows }) else {
            throw InboxError(.corrupt, step: "finding every message that the file counts")
        }
        let open = sums.prefix(through: Int(RowState.presented.rawValue)).reduce(into: RowSum()) { $0.add($1) }
        let (retry, dead) = (sums[Int(RowState.retry.rawValue)], sums[Int(RowState.dead.rawValue)])
        let deadIndex = try self.sum(self.statements.deadRows)
        guard try self.sum(self.statements.openRows) == open, try self.sum(self.statements.retryRows) == retry,
            try self.sum(self.statements.waitingRows) == waiting,
            (deadIndex.rows, deadIndex.numbers) == (dead.rows, dead.numbers)
        else { throw InboxError(.corrupt, step: "finding every message in the indexes") }
        try self.verifyInstallations(of: owners)
        try self.verifyEvents()
        _ = try self.statements.readNotices()
        return counts
    }

    /// Of some rows how many there are, and what tells them from others: a page of an older time has as many as it
    /// should by chance.
    private struct RowSum: Equatable {
        var rows: Int64 = 0
        /// The lower halves of their numbers added up.
        var numbers: Int64 = 0
        /// Each one's number multiplied with where it stands, and added up.
        var places: Int64 = 0

        /// As ``InboxStatements`` has it in SQL.
        mutating func add(_ sequence: Int64, place: Int64) {
            self.rows += 1
            self.numbers += sequence & 0xFFFF_FFFF
            self.places += (sequence & 0xFFFF) * place
        }

        mutating func add(_ other: RowSum) {
            self.rows += other.rows
            self.numbers += other.numbers
            self.places += other.places
        }
    }

    /// - Returns: the counts of rows, the sums of the rows by state, the sum of the waiting rows with their sources,
    ///   and the installations of the rows.
    private func countRows(
        through last: Int64
    ) throws(InboxError) -> (counts: InboxCounts, sums: [RowSum], waiting: RowSum, owners: Set<Int64>) {
        let statement = self.statements.inspect
        defer { statement.reset() }
        var counts = InboxCounts()
        var (sums, waiting) = ([RowSum](repeating: RowSum(), count: RowState.allCases.count), RowSum())
        var installations: Set<Int64> = []
        var (former, formerInstallation): (Int64, Int64?) = (0, nil)
        while try statement.next() {
            let (sequence, installation) = (statement.integer(0), statement.integer(3))
            guard sequence > former, sequence <= last, let state = RowState(rawValue: statement.integer(1)),
                InboxCounts.rowBytes.contains(statement.integer(2))
            else { throw InboxError(.corrupt, step: "looking at every message") }
            counts.add(statement.integer(2), to: state)
            let place = (installation & 0xFFFF) * 4 + state.rawValue
            sums[Int(state.rawValue)].add(sequence, place: place)
            if state == .waiting {
                let source = statement.optionalInteger(4) ?? 0
                let low = (source & 0xFFFF) + (source >> 16 & 0xFFFF)
                let high = (source >> 32 & 0xFFFF) + (source >> 48 & 0xFFFF)
                waiting.add(sequence, place: place + low + high)
            }
            if installation != formerInstallation { installations.insert(installation) }
            (former, formerInstallation) = (sequence, installation)
        }
        return (counts, sums, waiting, installations)
    }

    private func verifyInstallations(of rows: Set<Int64>) throws(InboxError) {
        let present = Set(try self.statements.installations.all { $0.integer(0) })
        let areIndexed = try self.statements.installationsByIndex.first { row in
            row.integer(0) == present.count && row.integer(1) == present.count
        }
        guard rows.subtracting([InboxSchema.unknownInstallation]).isSubset(of: present), areIndexed == true
        else { throw InboxError(.corrupt, step: "finding whom the messages are for") }
    }

    /// Events of which none is there twice. How many there should be, the record of each message says.
    private func verifyEvents() throws(InboxError) {
        let statement = self.statements.eventNumbers
        defer { statement.reset() }
        var former: (message: Int64, number: Int64) = (.min, 0)
        while try statement.next() {
            let next = (message: statement.integer(0), number: statement.integer(1))
            guard next > former else { throw InboxError(.corrupt, step: "looking at every event") }
            former = next
        }
    }

    private func sum(_ statement: SQLiteStatement) throws(InboxError) -> RowSum {
        try statement.first { RowSum(rows: $0.integer(0), numbers: $0.integer(1), places: $0.integer(2)) } ?? RowSum()
    }
}
