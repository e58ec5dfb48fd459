import KiiPushCore

/// Decoding of one 400-byte payload: `ReceivedMessage`, which keeps every key, beside Foundation's two decoders.
enum DecodeSection {
    private static let whole = "ReceivedMessage"
    private static let read = "ReceivedMessage, four values read"

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let count = bench.scaled(200_000)
        let peers = ["JSONDecoder", "JSONSerialization"].map { peer in
            self.contender(peer, [bench.program("foundation-decode"), peer], count: count / 10, bench)
        }
        let ours = [
            self.contender(self.whole, bench.own(["decode", "whole"]), count: count, bench),
            self.contender(self.read, bench.own(["decode", "read"]), count: count, bench),
        ]
        let results = try report.compare(
            "decode, 400 B",
            operation: "payload",
            ours + peers,
            repetitions: bench.repetitions
        )
        func time(_ name: String) -> Figure { results[name, "time"] }
        report.add(
            "decode, 400 B, strict, every key kept",
            ours: Shown.nanoseconds(time(self.whole)),
            target: "<= 500 ns",
            reached: time(self.whole).median <= 500e-9
        )
        for (what, name, peer) in [
            ("  the same", self.whole, "JSONDecoder"), ("  the same", self.whole, "JSONSerialization"),
            ("  and four of its values read", self.read, "JSONDecoder"),
        ] {
            let ratio = time(peer) / time(name)
            let isTarget = name == self.whole && peer == "JSONDecoder"
            report.add(
                what,
                ours: Shown.nanoseconds(time(name)),
                against: "\(peer) \(Shown.nanoseconds(time(peer)))",
                ratio: Shown.ratio(ratio),
                target: isTarget ? ">= 10x" : "",
                reached: isTarget ? ratio >= 10 : nil,
                headline: isTarget ? "one payload of 400 B decoded" : nil
            )
        }
    }

    /// `decode whole|read PAYLOAD-FILE COUNT`: prints `time=S`, for one payload.
    static func command(_ arguments: [String]) throws {
        guard arguments.count == 3, let count = Int(arguments[2]) else {
            throw ChildProcess.Failure(description: "usage: decode whole|read PAYLOAD-FILE COUNT")
        }
        let payload = try readFile(arguments[1])
        let isReading = arguments[0] == "read"
        var sum = 0
        let start = monotonicSeconds()
        for _ in 0..<count {
            let message = try ReceivedMessage(payload: payload)
            sum += message.kind == .pushToUser ? 1 : 0
            guard isReading else { continue }
            sum += message.sourceTopic?.id.utf8.count ?? 0
            sum += message.value(of: .sender)?.utf8.count ?? 0
            sum += message["text"]?.string?.utf8.count ?? 0
            sum += Int(message["level"]?.int64 ?? 0)
        }
        print("time=\((monotonicSeconds() - start) / Double(count)) sum=\(sum)")
    }

    private static func contender(
        _ name: String,
        _ command: [String],
        count: Int,
        _ bench: Workbench
    ) -> Contender {
        Contender(name: name, count: count) {
            let outcome = try MeasuredProcess(command + [bench.largePayload, "\(count)"], bench).finish(count: count)
            guard let time = outcome.said["time"], (outcome.said["sum"] ?? 0) > 0 else {
                throw ChildProcess.Failure(description: "\(name) decoded nothing")
            }
            return outcome.usage.merging(["time": time, "rate": 1 / time]) { $1 }
        }
    }
}
