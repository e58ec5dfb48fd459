struct InboxPruning {
    /// The search for the oldest done row continues after this number.
    var cursor: Int64 = 0
    /// Rows up to ``cursor`` that became done after the search had passed them, at most 10,000. A new search for them
    /// would read every waiting row again.
    var passed: ArraySlice<Int64> = []
    var sweepCursor: Int64 = 0
    var nextSweep = Timestamp(millisecondsSinceEpoch: .min)

    private static let passedLimit = 10_000

    mutating func becameDone(_ sequence: Int64) {
        guard sequence <= self.cursor, self.passed.count < InboxPruning.passedLimit else { return }
        self.passed.append(sequence)
    }
}

extension Inbox {
    /// The number of rows that one step reads: about a millisecond of work. On a small disk, about as many as one
    /// transaction may write.
    var rowsPerStep: Int {
        guard let most = self.shares.transactionBytes else { return 200 }
        let done = self.pending.counts[.done]
        return Int((most / max(done.bytes / max(done.rows, 1), InboxCounts.rowOverhead)).held(to: 4...1000))
    }
    var doneBytesKept: Int64 { min(self.configuration.keepsDoneBytes, self.shares.doneBytes) }
    /// 4 MiB of pages.
    private static let freePagesKept: Int64 = 1024

    /// Removes a few done rows: rows older than ``Configuration/keepsDoneFor``, and the oldest rows beyond
    /// ``Configuration/keepsDoneBytes`` or the disk's share. Returns the time until the next call is useful; zero if
    /// work may remain.
    package func prune(now: Timestamp, in transaction: InboxTransaction) throws(InboxError) -> Duration {
        let wait = self.sweepWait(from: now)
        if wait == .zero, self.pruning.sweepCursor == 0 { (self.pruning.cursor, self.pruning.passed) = (0, []) }
        let isWithinBytes = try self.removeOldest(in: transaction)
        guard wait == .zero else { return isWithinBytes ? wait : .zero }
        let isSwept = try self.sweep(now: now, in: transaction)
        guard isWithinBytes, isSwept else { return .zero }
        if try self.giveBackPages() { return .zero }
        self.pruning.sweepCursor = 0
        self.pruning.nextSweep = now + self.configuration.sweepInterval
        return self.configuration.sweepInterval
    }

    private var excess: Int64 { self.pending.counts[.done].bytes - self.doneBytesKept }

    private func removeOldest(in transaction: InboxTransaction) throws(InboxError) -> Bool {
        var excess = self.excess
        guard excess > 0 else { return true }
        let rowsPerStep = self.rowsPerStep
        var oldest: [Int64] = []
        let looked = try self.scan(from: &self.pruning.cursor, rowsPerStep) { row in
            oldest.append(row.integer(0))
            excess -= row.integer(3, within: InboxCounts.rowBytes)
            return excess > 0
        }
        for sequence in oldest { _ = try transaction.remove(sequence, in: .done) }
        guard self.excess > 0 else { return true }
        guard looked < rowsPerStep else { return false }
        // The scan has reached the end. Only rows in `passed` can still be removed.
        for _ in 0..<rowsPerStep where self.excess > 0 {
            guard let sequence = self.pruning.passed.popFirst() else { return true }
            _ = try transaction.remove(sequence, in: .done)
        }
        return self.excess <= 0
    }

    private func scan(
        from cursor: inout Int64, _ limit: Int, _ body: (SQLiteStatement) -> Bool
    ) throws(InboxError) -> Int {
        var (looked, last) = (0, cursor)
        defer { cursor = last }
        try self.statements.scan.forEach(cursor, limit) { row throws(InboxError) in
            looked += 1
            // In a damaged table a later row may have a lower number. The scan would then never end.
            guard row.integer(0) > last else { throw InboxError(.corrupt, step: "looking for old rows") }
            last = row.integer(0)
            return RowState(rawValue: row.integer(1)) != .done || body(row)
        }
        return looked
    }

    /// The time until the next sweep. If that time exceeds the interval, the clock was set back, and a sweep is due.
    private func sweepWait(from now: Timestamp) -> Duration {
        let next = self.pruning.nextSweep.millisecondsSinceEpoch
        let (wait, overflow) = next.subtractingReportingOverflow(now.millisecondsSinceEpoch)
        let pause = Duration.milliseconds(wait)
        return overflow || pause < .zero || pause > self.configuration.sweepInterval ? .zero : pause
    }

    private func sweep(now: Timestamp, in transaction: InboxTransaction) throws(InboxError) -> Bool {
        let oldest = now + .nanoseconds(-self.configuration.keepsDoneFor.wholeNanoseconds)
        let rowsPerStep = self.rowsPerStep
        var (old, kept): ([Int64], Int) = ([], 0)
        let looked = try self.scan(from: &self.pruning.sweepCursor, rowsPerStep) { row in
            if row.time(2) < oldest { old.append(row.integer(0)) } else { kept += 1 }
            return true
        }
        for sequence in old { _ = try transaction.remove(sequence, in: .done) }
        // Later rows are probably recent too, so a step with many recent rows and no old row ends the sweep.
        return looked < rowsPerStep || (old.isEmpty && kept >= rowsPerStep / 2)
    }

    private func giveBackPages() throws(InboxError) -> Bool {
        let before = try self.freePages()
        guard before > Inbox.freePagesKept else { return false }
        try self.statements.vacuum.run()
        return try self.freePages() < before
    }

    func freePages() throws(InboxError) -> Int64 { try self.statements.freePages.first { $0.integer(0) } ?? 0 }
}
