/// How far the present sweep over the rows has come.
struct InboxPruning {
    /// The last sequence looked at.
    var cursor: Int64 = 0
    /// No sweep for age starts before this.
    var nextSweep = Timestamp(millisecondsSinceEpoch: .min)

    /// Forgets the sweep: after a rollback the rows that it removed are back.
    mutating func restart() {
        self.cursor = 0
        self.nextSweep = Timestamp(millisecondsSinceEpoch: .min)
    }
}

extension Inbox {
    /// How many rows one step looks at: about a millisecond's work.
    private static let rowsPerStep: Int64 = 200
    /// How often the rows are looked through for old ones.
    private static let sweepInterval: Duration = .seconds(60)
    /// Free pages beyond which the file is made smaller, 4 MiB of them.
    private static let freePagesKept: Int64 = 1024

    /// One small step of removing done rows that are older than ``Configuration/keepsDoneFor`` or, oldest first, more
    /// than ``Configuration/keepsDoneBytes``. Costs nothing when there is nothing to do.
    ///
    /// - Returns: whether there is more to do; call again in the next turn.
    package func prune(now: Timestamp, in transaction: InboxTransaction) throws(InboxError) -> Bool {
        guard self.isOverfull || now >= self.pruning.nextSweep else { return false }
        let oldest = now + .nanoseconds(-self.configuration.keepsDoneFor.wholeNanoseconds)
        let found = try self.scan(after: self.pruning.cursor, limit: Inbox.rowsPerStep)
        var isAtEnd = found.count < Int(Inbox.rowsPerStep)
        for row in found {
            guard row.state == .done else {
                self.pruning.cursor = row.sequence
                continue
            }
            // Rows are done about in the order of reception, so the first one worth keeping ends the sweep.
            guard self.isOverfull || row.updatedAt < oldest else {
                isAtEnd = true
                break
            }
            _ = try transaction.remove(row.sequence)
            self.pruning.cursor = row.sequence
        }
        guard isAtEnd else { return true }
        if try self.giveBackPages() { return true }
        self.pruning.cursor = 0
        self.pruning.nextSweep = now + Inbox.sweepInterval
        return false
    }

    private var isOverfull: Bool { self.pending.counts[.done].bytes > self.configuration.keepsDoneBytes }

    private func giveBackPages() throws(InboxError) -> Bool {
        let free = self.statements.freePages
        defer { free.reset() }
        guard try free.next(), free.integer(0) > Inbox.freePagesKept else { return false }
        free.reset()
        try self.statements.vacuum.run()
        return true
    }

    private func scan(
        after sequence: Int64, limit: Int64
    ) throws(InboxError) -> [(sequence: Int64, state: RowState?, updatedAt: Timestamp)] {
        let statement = self.statements.scan
        defer { statement.reset() }
        try statement.bind(1, sequence)
        try statement.bind(2, limit)
        var rows: [(Int64, RowState?, Timestamp)] = []
        while try statement.next() {
            let updated = Timestamp(millisecondsSinceEpoch: statement.integer(2))
            rows.append((statement.integer(0), RowState(rawValue: statement.integer(1)), updated))
        }
        return rows
    }
}
