import Glibc
import KiiPushCore

/// The durable inbox on this disk: one commit for what a turn brought, beside one commit a message.
enum InboxSection {
    /// About what a turn of the loop brings when messages come as fast as they are taken.
    private static let group = 256

    static func run(_ bench: Workbench, into table: inout Table) throws {
        let payload = try readFile(bench.largePayload)
        let medians = try interleaved(
            [
                Contender(name: "single") {
                    try self.store(bench.scaled(5_000), group: 1, payload: payload, bench: bench)
                },
                Contender(name: "grouped") {
                    try self.store(bench.scaled(200_000), group: self.group, payload: payload, bench: bench)
                },
            ],
            repetitions: bench.repetitions
        )
        let (single, grouped) = (medians["single"]?["rate"] ?? .nan, medians["grouped"]?["rate"] ?? .nan)
        table.add(
            "inbox alone, \(self.group) messages a commit",
            ours: Shown.rate(grouped),
            against: "one commit a message \(Shown.rate(single))",
            ratio: Shown.ratio(grouped / single)
        )
    }

    /// Stores `count` messages, `group` in a transaction, in a file that is removed again. `p50` is a commit's time.
    ///
    /// - Parameter pauseMicroseconds: how long to wait before each: a thread and a disk that have slept take longer.
    static func store(
        _ count: Int, group: Int, payload: [UInt8], pauseMicroseconds: UInt32 = 0, bench: Workbench
    ) throws -> Sample {
        let path = bench.program("inbox.sqlite")
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        let inbox = try Inbox(path: path)
        let now = Timestamp(millisecondsSinceEpoch: 1_463_363_201_908)
        let installation = try inbox.transaction { (transaction) throws(InboxError) in
            try transaction.installation(id: "bench")
        }
        let start = monotonicSeconds()
        var stored = 0
        var times: [Double] = []
        while stored < count {
            if pauseMicroseconds > 0 { usleep(pauseMicroseconds) }
            let begin = monotonicSeconds()
            try inbox.transaction { (transaction) throws(InboxError) in
                for index in stored..<min(stored + group, count) {
                    _ = try transaction.insert(
                        NewRow(
                            installation: installation,
                            topic: "bench/0123456789abcd",
                            payload: payload,
                            packetID: UInt16(truncatingIfNeeded: index),
                            receivedAt: now
                        )
                    )
                }
            }
            stored += group
            times.append(monotonicSeconds() - begin)
        }
        return ["rate": Double(count) / (monotonicSeconds() - start), "p50": median(times)]
    }
}
