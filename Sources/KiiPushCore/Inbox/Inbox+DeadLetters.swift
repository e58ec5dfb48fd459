/// The dead letters that no handler was meant for: undecodable ones, oversized ones, those on an unexpected topic. A
/// sender can make any number of them, so they take half of what dead letters may: the oldest make room for the newest.
struct RefusedRows {
    /// How many there are; `nil` as long as there are too few dead letters for it to matter.
    var tally: InboxCounts.Tally?
    /// Up to here there is none.
    var cursor: Int64 = 0
    /// How many made room in the open transaction.
    var removed = 0
}

extension Inbox {
    /// What is kept of one that is not kept whole.
    private static let bytesKept = 8192
    /// How many make room in one step. One that is added needs fewer, but for a bound that has become smaller.
    private static let removedPerStep = 16

    /// How many dead letters the inbox may hold, and how many bytes of them.
    package var deadLimit: InboxCounts.Tally {
        let bytes = min(self.configuration.keepsDeadBytes, self.shares.deadBytes)
        return .init(rows: self.configuration.keepsDeadRows, bytes: bytes)
    }

    /// Holds the refused rows to half of what dead letters may take, after this one became one of them.
    func boundRefused(_ sequence: Int64, bytes: Int64, in transaction: InboxTransaction) throws(InboxError) {
        self.refused.tally?.add(bytes)
        self.refused.cursor = min(self.refused.cursor, sequence - 1)
        let limit = self.deadLimit
        let most = InboxCounts.Tally(rows: limit.rows / 2, bytes: limit.bytes / 2)
        guard self.pending.counts[.dead].isMore(than: most) else { return }
        if self.refused.tally == nil {
            // The statement has one row, whatever there is.
            self.refused.tally = try self.statements.refusedTally.first { row in
                InboxCounts.Tally(rows: row.integer(0), bytes: row.integer(1, within: 0...(1 << 56)))
            }
        }
        if let tally = self.refused.tally, tally.bytes > most.bytes { try self.cut(sequence) }
        func isOver() -> Bool { self.refused.tally?.isMore(than: most) ?? false }
        guard isOver() else { return }
        let oldest = try self.statements.oldestRefused.all(self.refused.cursor, Inbox.removedPerStep) { $0.integer(0) }
        for row in oldest where isOver() {
            if try transaction.remove(row, in: .dead) { self.refused.removed += 1 }
            self.refused.cursor = row
        }
    }

    /// Keeps of a row's payload its first 8 KiB, and says in its reason what the rest was.
    private func cut(_ sequence: Int64) throws(InboxError) {
        let row = try self.statements.bytes.first(sequence) { row in
            (topic: row.text(0)?.utf8.count ?? 0, original: row.optionalInteger(1), payload: row.blob(2))
        }
        guard let (topic, original, payload) = row, payload.count > Inbox.bytesKept else { return }
        let bytes = InboxCounts.bytes(topic: topic, payload: Inbox.bytesKept)
        let scope = original == nil ? "all" : "the first"
        let reason =
            "; cut to the first \(Inbox.bytesKept) bytes; SHA-256 of \(scope) \(payload.count) bytes: "
            + SHA256.hexadecimal(payload)
        let (kept, length) = (Array(payload[..<Inbox.bytesKept]), original ?? Int64(payload.count))
        try self.statements.cut.run(sequence, kept, length, bytes, reason)
        let saved = Int64(payload.count - Inbox.bytesKept)
        self.pending.counts[.dead].bytes -= saved
        self.refused.tally?.bytes -= saved
    }
}
