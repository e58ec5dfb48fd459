extension Inbox {
    /// Makes room on a full disk: writes the log into the file, removes done rows, and makes the file smaller.
    ///
    /// Both take some room first, which has to be there. Done rows whose acknowledgement is known to have arrived go
    /// first, the oldest of them before the others: a redelivery of one of these is not recognised any more. It takes
    /// about `limit`; the next call does the rest. The next transaction says that the disk is still full. Returns how many
    /// rows were removed.
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
        // Where there is no room even for this, the file may need less of it when rows are removed.
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
            // A file that was not made for it keeps all that it has.
            guard left < free else { break }
            free = left
        }
        try self.writeLog(emptying: true)
    }

    /// Done rows after this one, in the order of reception: as many as have so many bytes, or one transaction removes.
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
