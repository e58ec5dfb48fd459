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
    private static let rowsPerStep = 200
    /// Free pages beyond which the file is made smaller, 4 MiB of them.
    private static let freePagesKept: Int64 = 1024

    /// One small step of removing done rows that are older than ``Configuration/keepsDoneFor`` or, oldest first, more
    /// than ``Configuration/keepsDoneBytes``. Costs nothing when there is nothing to do.
    ///
    /// - Returns: how long until there may be more to do; zero if there is now, to be done in the next turn.
    package func prune(now: Timestamp, in transaction: InboxTransaction) throws(InboxError) -> Duration {
        let wait = self.sweepWait(from: now)
        guard self.isOverfull || wait == .zero else { return wait }
        let oldest = now + .nanoseconds(-self.configuration.keepsDoneFor.wholeNanoseconds)
        let found = try self.scan(after: self.pruning.cursor, limit: Int64(Inbox.rowsPerStep))
        var (kept, removed) = (0, 0)
        for row in found {
            self.pruning.cursor = row.sequence
            guard row.state == .done else { continue }
            if self.isOverfull || row.updatedAt < oldest {
                _ = try transaction.remove(row.sequence)
                removed += 1
            } else {
                kept += 1
            }
        }
        // Rows are done about in the order of reception, so many that are worth keeping end the sweep; a single one may
        // have been done long after its neighbours.
        let isAtEnd = found.count < Inbox.rowsPerStep || (removed == 0 && kept >= Inbox.rowsPerStep / 2)
        guard isAtEnd else { return .zero }
        if try self.giveBackPages() { return .zero }
        self.pruning.cursor = 0
        self.pruning.nextSweep = now + self.configuration.sweepInterval
        return self.configuration.sweepInterval
    }

    /// How long until the next sweep. One that seems to be further away than ever is due: the clock was set back.
    private func sweepWait(from now: Timestamp) -> Duration {
        let next = self.pruning.nextSweep.millisecondsSinceEpoch
        let (wait, overflow) = next.subtractingReportingOverflow(now.millisecondsSinceEpoch)
        let pause = Duration.milliseconds(wait)
        guard !overflow, pause > .zero, pause <= self.configuration.sweepInterval else { return .zero }
        return pause
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
