/// The dead letters that no handler may see: undecodable, oversized, or on an unexpected topic. Senders can cause any
/// number of them, so they may use only half of the dead letters' limit.
struct RefusedRows {
    /// Count of these dead letters; `nil` until all dead letters together exceed half of their limit, and after a
    /// rollback.
    var tally: InboxCounts.Tally?
    var cursor: Int64 = 0
    var removed = 0
}

extension Inbox {
    private static let bytesKept = 8192
    private static let removedPerStep = 16

    package var deadLimit: InboxCounts.Tally {
        var limit = self.configuration.keepsDead
        limit.bytes = min(limit.bytes, self.shares.deadBytes)
        return limit
    }

    /// Called for each new dead letter that no handler may see. If these exceed half of the dead letters' limit, cuts
    /// the new one's payload, or removes up to 16 of the oldest.
    func boundRefused(_ sequence: Int64, bytes: Int64, in transaction: InboxTransaction) throws(InboxError) {
        self.refused.tally?.add(bytes)
        self.refused.cursor = min(self.refused.cursor, sequence - 1)
        let most = self.deadLimit.half
        guard self.pending.counts[.dead].isMore(than: most) else { return }
        if self.refused.tally == nil {
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

    /// Cuts a longer payload to its first 8 KiB, and adds the SHA-256 of the uncut payload to the row's reason.
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
