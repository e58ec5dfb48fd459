extension Inbox {
    /// Makes room on a full disk: writes the log into the file, removes most done rows, and shrinks the file.
    ///
    /// Removes first the done rows that the broker will not redeliver, then rows that it may redeliver. A redelivery of
    /// a removed row is stored as a new message. Runs for about `limit`; the next call continues. Does not throw if the
    /// disk stays full. Returns the number of removed rows.
    package func makeRoom(within limit: Duration = .milliseconds(200)) throws(InboxError) -> Int {
        let before = self.counts[.done]
        let kept = min(self.doneBytesKept, before.bytes / 4)
        do throws(InboxError) {
            try self.makeRoom(keeping: kept, until: self.configuration.clocks.monotonic() + limit)
        } catch {
            guard error.kind == .full else { throw error }
        }
        return Int(before.rows - self.counts[.done].rows)
    }

    private func makeRoom(keeping kept: Int64, until deadline: MonotonicInstant) throws(InboxError) {
        self.log.failure = nil
        // This write may fail on the full disk. The end of this function tries again.
        try? self.writeLog(emptying: true)
        for isProvenAlone in [true, false] {
            var cursor: Int64 = 0
            while self.counts[.done].bytes > kept, self.configuration.clocks.monotonic() < deadline {
                let excess = self.counts[.done].bytes - kept
                let rows = try self.done(after: cursor, isProvenAlone: isProvenAlone, bytes: excess)
                guard let last = rows.last else { break }
                cursor = last
                try self.transaction { transaction throws(InboxError) in
                    for row in rows { _ = try transaction.remove(row, in: .done) }
                }
            }
        }
        var free = try self.freePages()
        while free > 0, self.configuration.clocks.monotonic() < deadline {
            try self.transaction { _ throws(InboxError) in try self.statements.vacuumStep.run() }
            let left = try self.freePages()
            // A file made without `auto_vacuum` keeps its free pages.
            guard left < free else { break }
            free = left
        }
        try self.writeLog(emptying: true)
    }

    private func done(after sequence: Int64, isProvenAlone: Bool, bytes: Int64) throws(InboxError) -> [Int64] {
        var (rows, left): ([Int64], Int64) = ([], bytes)
        try self.statements.done.forEach(sequence, isProvenAlone ? 1 : 0, self.rowsPerStep) { row in
            rows.append(row.integer(0))
            left -= row.integer(1, within: InboxCounts.rowBytes)
            return left > 0
        }
        return rows
    }
}
