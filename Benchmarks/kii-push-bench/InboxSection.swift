import Glibc
import KiiPushCore

/// The durable inbox on this disk: one commit for all messages of a turn, beside one commit a message.
enum InboxSection {
    /// Roughly the number of messages in a turn of the loop at full speed.
    private static let group = 256

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let (single, grouped) = ("one commit a message", "\(self.group) messages a commit")
        let payload = bench.largePayload
        let results = try report.compare(
            "inbox alone, 400 B",
            [
                self.contender(single, count: bench.scaled(5_000), group: 1, payload: payload, bench: bench),
                self.contender(
                    grouped, count: bench.scaled(200_000), group: self.group, payload: payload, bench: bench),
            ],
            repetitions: bench.repetitions
        )
        report.add(
            "inbox alone, \(grouped)",
            ours: Shown.rate(results[grouped, "rate"]),
            against: "\(single) \(Shown.rate(results[single, "rate"]))",
            ratio: Shown.ratio(results[grouped, "rate"] / results[single, "rate"])
        )
    }

    /// Stores `count` messages, `group` in a transaction. `p50` is the median time of a commit.
    ///
    /// - Parameter pauseMicroseconds: the pause before each commit: a sleeping thread and a sleeping disk take longer.
    static func contender(
        _ name: String,
        count: Int,
        group: Int,
        payload: String,
        pauseMicroseconds: Int = 0,
        bench: Workbench
    ) -> Contender {
        let path = bench.program("inbox.sqlite")
        let words = ["inbox", path, payload, "\(count)", "\(group)", "\(pauseMicroseconds)"]
        return Contender(name: name, count: count) {
            let outcome = try MeasuredProcess(bench.own(words), bench).finish(count: count)
            return outcome.said.merging(outcome.usage) { $1 }
        }
    }

    /// `inbox FILE PAYLOAD-FILE COUNT GROUP MICROSECONDS`: prints `rate=R p50=S`, and removes the file afterwards.
    static func command(_ arguments: [String]) throws {
        guard arguments.count == 5, let count = Int(arguments[2]), let group = Int(arguments[3]),
            let pauseMicroseconds = UInt32(arguments[4])
        else { throw ChildProcess.Failure(description: "usage: inbox FILE PAYLOAD-FILE COUNT GROUP MICROSECONDS") }
        let path = arguments[0]
        let payload = try readFile(arguments[1])
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
                        StoredMessage(
                            installation: installation,
                            topic: Workbench.topic,
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
        print("rate=\(Double(count) / (monotonicSeconds() - start)) p50=\(Figure(times).median)")
    }
}
