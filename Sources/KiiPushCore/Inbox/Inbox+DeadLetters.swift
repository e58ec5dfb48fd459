/// The dead letters that no handler was meant for: undecodable ones, oversized ones, those on an unexpected topic.
///
/// Nobody's sound message is among them, and a sender can make any number of them. So they take half of what dead
/// letters may take at most: the oldest make room for the newest.
struct RefusedRows {
    /// How many there are; `nil` as long as there are too few dead letters for it to matter.
    var tally: InboxCounts.Tally?
    /// Up to here there is none.
    var cursor: Int64 = 0
    /// How many made room in the open transaction.
    var removed = 0

    func takeMore(than limit: InboxCounts.Tally) -> Bool {
        self.tally.map { $0.rows > limit.rows || $0.bytes > limit.bytes } ?? false
    }

    mutating func add(_ bytes: Int64) {
        self.tally?.rows += 1
        self.tally?.bytes += bytes
    }

    mutating func remove(_ bytes: Int64) {
        self.tally?.rows -= 1
        self.tally?.bytes -= bytes
    }
}

extension Inbox {
    /// What is kept of one that is not kept whole.
    private static let bytesKept = 8192
    /// How many make room in one step. One that is added needs fewer, but for a bound that has become smaller.
    private static let removedPerStep = 16

    /// How many dead letters the inbox may hold, and how many bytes of them.
    package var deadLimit: InboxCounts.Tally {
        InboxCounts.Tally(
            rows: self.configuration.keepsDeadRows, bytes: min(self.configuration.keepsDeadBytes, self.shares.deadBytes)
        )
    }

    /// How many dead letters made room for others in the last transaction.
    package var removedDeadLetters: Int { self.refused.removed }

    /// Holds the refused rows to half of what dead letters may take, after this one became one of them.
    func boundRefused(_ sequence: Int64, bytes: Int64, in transaction: InboxTransaction) throws(InboxError) {
        self.refused.add(bytes)
        self.refused.cursor = min(self.refused.cursor, sequence - 1)
        let (limit, dead) = (self.deadLimit, self.pending.counts[.dead])
        let most = InboxCounts.Tally(rows: limit.rows / 2, bytes: limit.bytes / 2)
        guard dead.rows > most.rows || dead.bytes > most.bytes else { return }
        if self.refused.tally == nil { self.refused.tally = try self.readRefusedTally() }
        if self.refused.takeMore(than: InboxCounts.Tally(rows: .max, bytes: most.bytes)) { try self.cut(sequence) }
        guard self.refused.takeMore(than: most) else { return }
        for row in try self.oldestRefused() where self.refused.takeMore(than: most) {
            if try transaction.remove(row, in: .dead) { self.refused.removed += 1 }
            self.refused.cursor = row
        }
    }

    private func readRefusedTally() throws(InboxError) -> InboxCounts.Tally {
        try self.statements.refusedTally.first { row in
            InboxCounts.Tally(rows: row.integer(0), bytes: row.integer(1, within: 0...(1 << 56)))
        } ?? InboxCounts.Tally()
    }

    private func oldestRefused() throws(InboxError) -> [Int64] {
        try self.statements.oldestRefused.all(self.refused.cursor, Inbox.removedPerStep) { $0.integer(0) }
    }

    /// Keeps of a row's payload its first 8 KiB, and says in its reason what the rest was.
    private func cut(_ sequence: Int64) throws(InboxError) {
        let (topic, original, payload) = try self.content(of: sequence)
        guard payload.count > Inbox.bytesKept else { return }
        let bytes = InboxCounts.bytes(topic: topic, payload: Inbox.bytesKept)
        let scope = original == nil ? "all" : "the first"
        let reason =
            "; cut to the first \(Inbox.bytesKept) bytes; SHA-256 of \(scope) \(payload.count) bytes: "
            + SHA256.hexadecimal(payload)
        let (kept, length) = (Array(payload[..<Inbox.bytesKept]), original ?? Int64(payload.count))
        try self.statements.cut.run(sequence, kept, length, bytes, reason)
        let saved = InboxCounts.bytes(topic: topic, payload: payload.count) - bytes
        self.pending.counts[.dead].bytes -= saved
        self.refused.tally?.bytes -= saved
    }

    private func content(
        of sequence: Int64
    ) throws(InboxError) -> (topicBytes: Int, originalLength: Int64?, payload: [UInt8]) {
        let found = try self.statements.bytes.first(sequence) { row in
            (row.text(0)?.utf8.count ?? 0, row.optionalInteger(1), row.blob(2))
        }
        return found ?? (0, nil, [])
    }
}
