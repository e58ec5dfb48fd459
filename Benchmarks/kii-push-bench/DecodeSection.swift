import Foundation
import KiiPushCore

/// Decoding one 400-byte payload: ours, which keeps every key, beside Foundation's two decoders.
enum DecodeSection {
    static func run(_ bench: Workbench, into table: inout Table) throws {
        let payload = try readFile(bench.largePayload)
        let iterations = bench.scaled(200_000)
        let medians = try interleaved(
            [
                self.contender("ours", iterations: iterations) {
                    let message = try ReceivedMessage(payload: payload)
                    return message.kind == .pushToUser ? 1 : 0
                },
                self.contender("ours, four values read", iterations: iterations) {
                    let message = try ReceivedMessage(payload: payload)
                    return (message.sourceTopic?.id.utf8.count ?? 0)
                        + (message.value(of: .sender)?.utf8.count ?? 0)
                        + (message["text"]?.string?.utf8.count ?? 0) + Int(message["level"]?.int64 ?? 0)
                },
                self.contender("JSONDecoder", iterations: iterations / 10, JSONDecoderRun(payload).callAsFunction),
                self.contender("JSONSerialization", iterations: iterations / 10) {
                    let object = try JSONSerialization.jsonObject(with: Data(payload))
                    return (object as? [String: Any])?.count ?? 0
                },
            ],
            repetitions: bench.repetitions
        )
        let decoder = medians["JSONDecoder"]?["time"] ?? .nan
        for (what, ours) in [
            ("decode, \(payload.count) B, strict, every key kept", medians["ours"]?["time"] ?? .nan),
            ("  and four of its values read", medians["ours, four values read"]?["time"] ?? .nan),
        ] {
            let isTarget = !what.hasPrefix(" ")
            table.add(
                what,
                ours: self.nanoseconds(ours),
                target: isTarget ? "<= 500 ns" : "",
                reached: isTarget ? ours <= 500e-9 : nil
            )
            table.add(
                "  the same",
                ours: self.nanoseconds(ours),
                against: "JSONDecoder, known keys only \(self.nanoseconds(decoder))",
                ratio: Shown.ratio(decoder / ours),
                target: isTarget ? ">= 10x" : "",
                reached: isTarget ? decoder / ours >= 10 : nil
            )
        }
        let ours = medians["ours"]?["time"] ?? .nan
        let serialization = medians["JSONSerialization"]?["time"] ?? .nan
        table.add(
            "  the same",
            ours: self.nanoseconds(ours),
            against: "JSONSerialization \(self.nanoseconds(serialization))",
            ratio: Shown.ratio(serialization / ours)
        )
    }

    private static func nanoseconds(_ seconds: Double) -> String { "\(Shown.decimals(seconds * 1e9, 0)) ns" }

    /// Decodes `iterations` times. What the body returns is added up, so that nothing is optimised away.
    private static func contender(
        _ name: String,
        iterations: Int,
        _ body: @escaping () throws -> Int
    ) -> Contender {
        Contender(name: name) {
            var sum = 0
            let start = monotonicSeconds()
            for _ in 0..<iterations { sum &+= try body() }
            let time = (monotonicSeconds() - start) / Double(iterations)
            guard sum > 0 else { throw ChildProcess.Failure(description: "\(name) decoded nothing") }
            return ["time": time]
        }
    }
}

/// The payload as a program with Foundation would declare it: the keys it knows, and no others.
private struct JSONDecoderRun {
    private struct Message: Decodable {
        struct Reading: Decodable {
            var bar: Double
            var at: String
        }
        var appID: String
        var sender: String
        var senderURI: String
        var objectScopeAppID: String
        var objectScopeUserID: String
        var objectScopeType: String
        var topic: String
        var type: String
        var origin: String
        var when: Int64
        var text: String
        var level: Int
        var reading: Reading
    }

    private let decoder = JSONDecoder()
    private let payload: Data

    init(_ payload: [UInt8]) { self.payload = Data(payload) }

    func callAsFunction() throws -> Int {
        let message = try self.decoder.decode(Message.self, from: self.payload)
        return message.topic.utf8.count + message.sender.utf8.count + message.text.utf8.count + message.level
    }
}
