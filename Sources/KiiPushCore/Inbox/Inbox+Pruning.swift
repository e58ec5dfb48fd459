/// How far the search for rows that need not be kept has come.
struct InboxPruning {
    /// Where the oldest done row is looked for: up to here none is done but those in ``passed``.
    var cursor: Int64 = 0
    /// Rows that became done when the cursor had passed them, in that order. Looking for them instead would mean to go
    /// through everything again that waits.
    private var passed: ArraySlice<Int64> = []
    /// The last sequence that the present sweep for age has looked at.
    var sweepCursor: Int64 = 0
    var nextSweep = Timestamp(millisecondsSinceEpoch: .min)

    /// Those beyond it are found by what follows the next sweep.
    private static let passedLimit = 10_000

    /// Forgets everything: after a rollback the rows that were removed are back.
    mutating func restart() { self = InboxPruning() }

    mutating func lookAgain() {
        self.cursor = 0
        self.passed = []
    }

    mutating func becameDone(_ sequence: Int64) {
        guard sequence <= self.cursor, self.passed.count < InboxPruning.passedLimit else { return }
        self.passed.append(sequence)
    }

    mutating func nextPassed() -> Int64? { self.passed.popFirst() }
}

extension Inbox {
    /// How many rows one step looks at: about a millisecond's work and, where a transaction must be small, as much as
    /// it may write.
    var rowsPerStep: Int {
        guard let most = self.shares.transactionBytes else { return 200 }
        let done = self.pending.counts[.done]
        return Int(min(max(most / max(done.bytes / max(done.rows, 1), InboxCounts.rowOverhead), 4), 1000))
    }
    var doneBytesKept: Int64 { min(self.configuration.keepsDoneBytes, self.shares.doneBytes) }
    /// Free pages beyond which the file is made smaller, 4 MiB of them.
    private static let freePagesKept: Int64 = 1024

    /// One small step of removing done rows that are older than ``Configuration/keepsDoneFor`` or, oldest first, more
    /// than ``Configuration/keepsDoneBytes`` or the disk's share for them. Costs nothing when there is nothing to do.
    ///
    /// - Returns: how long until there may be more to do; zero if there is now, to be done in the next turn.
    package func prune(now: Timestamp, in transaction: InboxTransaction) throws(InboxError) -> Duration {
        let wait = self.sweepWait(from: now)
        if wait == .zero, self.pruning.sweepCursor == 0 { self.pruning.lookAgain() }
        let isWithinBytes = try self.removeOldest(in: transaction)
        guard wait == .zero else { return isWithinBytes ? wait : .zero }
        let isSwept = try self.sweep(now: now, in: transaction)
        guard isWithinBytes, isSwept else { return .zero }
        if try self.giveBackPages() { return .zero }
        self.pruning.sweepCursor = 0
        self.pruning.nextSweep = now + self.configuration.sweepInterval
        return self.configuration.sweepInterval
    }

    // MARK: - By bytes

    private var isOverfull: Bool { self.pending.counts[.done].bytes > self.doneBytesKept }

    /// Returns false if there is more to remove.
    private func removeOldest(in transaction: InboxTransaction) throws(InboxError) -> Bool {
        guard self.isOverfull else { return true }
        let rowsPerStep = self.rowsPerStep
        let (oldest, looked) = try self.oldest(rowsPerStep)
        for sequence in oldest { _ = try transaction.remove(sequence, in: .done) }
        guard self.isOverfull else { return true }
        guard looked < rowsPerStep else { return false }
        // Behind the cursor there is none any more.
        for _ in 0..<rowsPerStep where self.isOverfull {
            guard let sequence = self.pruning.nextPassed() else { return true }
            _ = try transaction.remove(sequence, in: .done)
        }
        return !self.isOverfull
    }

    /// The done rows behind the cursor that are too many. The cursor stays before the first one that is kept.
    private func oldest(_ limit: Int) throws(InboxError) -> (sequences: [Int64], looked: Int) {
        var excess = self.pending.counts[.done].bytes - self.doneBytesKept
        let statement = self.statements.scan
        defer { statement.reset() }
        try statement.bound(to: [self.pruning.cursor, limit])
        var (sequences, looked): ([Int64], Int) = ([], 0)
        while excess > 0, try statement.next() {
            looked += 1
            try self.advance(&self.pruning.cursor, to: statement.integer(0))
            guard RowState(rawValue: statement.integer(1)) == .done else { continue }
            sequences.append(statement.integer(0))
            excess -= statement.integer(3, within: InboxCounts.rowBytes)
        }
        return (sequences, looked)
    }

    private func advance(_ cursor: inout Int64, to sequence: Int64) throws(InboxError) {
        // In a damaged table rows lead back to others, and a search would never come to an end.
        guard sequence > cursor else { throw InboxError(.corrupt, step: "looking for old rows") }
        cursor = sequence
    }

    // MARK: - By age

    /// How long until the next sweep. One that seems to be further away than ever is due: the clock was set back.
    private func sweepWait(from now: Timestamp) -> Duration {
        let next = self.pruning.nextSweep.millisecondsSinceEpoch
        let (wait, overflow) = next.subtractingReportingOverflow(now.millisecondsSinceEpoch)
        let pause = Duration.milliseconds(wait)
        guard !overflow, pause > .zero, pause <= self.configuration.sweepInterval else { return .zero }
        return pause
    }

    private func sweep(now: Timestamp, in transaction: InboxTransaction) throws(InboxError) -> Bool {
        let oldest = now + .nanoseconds(-self.configuration.keepsDoneFor.wholeNanoseconds)
        let rowsPerStep = self.rowsPerStep
        var (old, kept, looked): ([Int64], Int, Int) = ([], 0, 0)
        do {
            let statement = self.statements.scan
            defer { statement.reset() }
            try statement.bound(to: [self.pruning.sweepCursor, rowsPerStep])
            while try statement.next() {
                looked += 1
                try self.advance(&self.pruning.sweepCursor, to: statement.integer(0))
                guard RowState(rawValue: statement.integer(1)) == .done else { continue }
                if statement.time(2) < oldest { old.append(statement.integer(0)) } else { kept += 1 }
            }
        }
        for sequence in old { _ = try transaction.remove(sequence, in: .done) }
        // Rows are done about in the order of reception, so many that are worth keeping end the sweep; a single one may
        // have been done long after its neighbours.
        return looked < rowsPerStep || (old.isEmpty && kept >= rowsPerStep / 2)
    }

    /// Returns whether there may be more to give. A file that was not made for it keeps all that it has.
    private func giveBackPages() throws(InboxError) -> Bool {
        let before = try self.freePages()
        guard before > Inbox.freePagesKept else { return false }
        try self.statements.vacuum.run()
        return try self.freePages() < before
    }

    func freePages() throws(InboxError) -> Int64 { try self.statements.freePages.first { $0.integer(0) } ?? 0 }
}
