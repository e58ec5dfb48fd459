import KiiPushCore

/// Decoding one 400-byte payload: ours, which keeps every key, beside Foundation's two decoders.
enum DecodeSection {
    static func run(_ bench: Workbench, into table: inout Table) throws {
        let count = bench.scaled(200_000)
        let peers = ["JSONDecoder", "JSONSerialization"].map { peer in
            Contender(name: peer) {
                try self.sample([bench.program("foundation-decode"), peer, bench.largePayload, "\(count / 10)"])
            }
        }
        let ours = ["whole", "read"].map { name in
            Contender(name: name) { try self.sample(bench.own(["decode", name, bench.largePayload, "\(count)"])) }
        }
        let medians = try interleaved(ours + peers, repetitions: bench.repetitions)
        func time(_ name: String) -> Double { medians[name]?["time"] ?? .nan }
        table.add(
            "decode, 400 B, strict, every key kept",
            ours: self.nanoseconds(time("whole")),
            target: "<= 500 ns",
            reached: time("whole") <= 500e-9
        )
        for (what, name, peer) in [
            ("  the same", "whole", "JSONDecoder"), ("  the same", "whole", "JSONSerialization"),
            ("  and four of its values read", "read", "JSONDecoder"),
        ] {
            let ratio = time(peer) / time(name)
            let isTarget = name == "whole" && peer == "JSONDecoder"
            table.add(
                what,
                ours: self.nanoseconds(time(name)),
                against: "\(peer) \(self.nanoseconds(time(peer)))",
                ratio: Shown.ratio(ratio),
                target: isTarget ? ">= 10x" : "",
                reached: isTarget ? ratio >= 10 : nil
            )
        }
    }

    /// `decode whole|read PAYLOAD-FILE COUNT`: says `time=S`, a payload's.
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

    private static func sample(_ command: [String]) throws -> Sample {
        let child = try ChildProcess(command)
        let sample = fields(of: child.nextLine() ?? "")
        guard child.wait().succeeded, sample["time"] != nil, (sample["sum"] ?? 0) > 0 else {
            throw ChildProcess.Failure(description: "\(command.joined(separator: " ")) failed")
        }
        return sample
    }

    private static func nanoseconds(_ seconds: Double) -> String { "\(Shown.decimals(seconds * 1e9, 0)) ns" }
}
