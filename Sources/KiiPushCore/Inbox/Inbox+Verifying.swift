extension Inbox {
    /// Reads every row, up to its payload, and holds the tables, their indexes and the ledger against each other. It takes
    /// about a second for a million rows, and does not look at payloads, nor at pages that hold nothing else. Returns the
    /// counts of the rows, whose bytes may differ from the ledger's. Throws `corrupt` where rows are missing, too.
    @discardableResult
    package func verify() throws(InboxError) -> InboxCounts {
        try self.connection.execute("BEGIN", step: "looking at every message")
        // Nothing was changed.
        defer { try? self.connection.execute("COMMIT", step: "looking at every message") }
        let ledger = try self.statements.readLedger()
        let (counts, sums, waiting, owners) = try self.countRows(through: ledger.lastSequence)
        guard RowState.allCases.allSatisfy({ counts[$0].rows == ledger.counts[$0].rows })
        else { throw InboxError(.corrupt, step: "finding every message that the file counts") }
        let open = sums.prefix(through: Int(RowState.presented.rawValue)).reduce(RowSum(), +)
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

    /// How many rows there are, and what tells them from others: a page of an older time may have as many by chance.
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

        static func + (one: RowSum, two: RowSum) -> RowSum {
            RowSum(rows: one.rows + two.rows, numbers: one.numbers + two.numbers, places: one.places + two.places)
        }
    }

    /// - Returns: the counts of rows, their sums by state, the sum of those that wait, with sources, and whose they are.
    private func countRows(
        through last: Int64
    ) throws(InboxError) -> (counts: InboxCounts, sums: [RowSum], waiting: RowSum, owners: Set<Int64>) {
        var counts = InboxCounts()
        var (sums, waiting) = ([RowSum](repeating: RowSum(), count: RowState.allCases.count), RowSum())
        var installations: Set<Int64> = []
        var (former, formerInstallation): (Int64, Int64?) = (0, nil)
        try self.statements.inspect.forEach { row throws(InboxError) in
            let (sequence, installation) = (row.integer(0), row.integer(3))
            guard sequence > former, sequence <= last, let state = RowState(rawValue: row.integer(1)),
                InboxCounts.rowBytes.contains(row.integer(2))
            else { throw InboxError(.corrupt, step: "looking at every message") }
            counts[state].add(row.integer(2))
            let place = (installation & 0xFFFF) * 4 + state.rawValue
            sums[Int(state.rawValue)].add(sequence, place: place)
            if state == .waiting {
                // NULL reads as 0.
                let source = row.integer(4)
                let low = (source & 0xFFFF) + (source >> 16 & 0xFFFF)
                let high = (source >> 32 & 0xFFFF) + (source >> 48 & 0xFFFF)
                waiting.add(sequence, place: place + low + high)
            }
            if installation != formerInstallation { installations.insert(installation) }
            (former, formerInstallation) = (sequence, installation)
            return true
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
        var former: (message: Int64, number: Int64) = (.min, 0)
        try self.statements.eventNumbers.forEach { row throws(InboxError) in
            let next = (message: row.integer(0), number: row.integer(1))
            guard next > former else { throw InboxError(.corrupt, step: "looking at every event") }
            former = next
            return true
        }
    }

    private func sum(_ statement: SQLiteStatement) throws(InboxError) -> RowSum {
        try statement.first { RowSum(rows: $0.integer(0), numbers: $0.integer(1), places: $0.integer(2)) } ?? RowSum()
    }
}
