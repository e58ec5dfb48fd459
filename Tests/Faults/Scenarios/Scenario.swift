/// One way to lose messages, and what it takes to try it.
package struct Scenario: Sendable {
    package let name: String
    package let summary: String
    private let body: @Sendable (inout Play) async throws -> String
    private let kind: ReceiverKind

    init(
        _ name: String, _ summary: String, with kind: ReceiverKind = .agent(),
        _ body: @escaping @Sendable (inout Play) async throws -> String
    ) {
        self.name = name
        self.summary = summary
        self.kind = kind
        self.body = body
    }

    /// Plays it with our agent, or with another client.
    package func run(with other: ReceiverKind? = nil, seed: UInt64) async throws -> Outcome {
        let kind = other ?? self.kind
        return try await FaultBench.with(seed: seed, qos: kind.qos) { bench in
            var play = Play(bench: bench, kind: kind)
            do {
                let faults = try await self.body(&play)
                return try play.outcome(self.name, faults: faults)
            } catch {
                await play.receiver.kill()
                throw error
            }
        }
    }
}

extension Scenario {
    /// How much of everything.
    package enum Size: Sendable {
        /// What the published table is made of.
        case full
        /// A few seconds each.
        case quick
    }

    /// All scenarios, in the order of the table.
    package static func all(_ size: Size) -> [Scenario] {
        let isFull = size == .full
        return [
            .kill("kill", messages: isFull ? 3000 : 500, kills: isFull ? 60 : 10),
            .kill("kill-200", messages: isFull ? 10_000 : 2000, kills: isFull ? 200 : 20),
            .cut(messages: isFull ? 2000 : 400, cuts: isFull ? 40 : 8),
        ]
    }

    /// The scenarios that make sense with any client: killed at its work, and cut off.
    package static func forPeers(_ size: Size) -> [Scenario] {
        let isFull = size == .full
        return [
            .kill("kill", messages: isFull ? 3000 : 500, kills: isFull ? 60 : 10),
            .cut(messages: isFull ? 2000 : 400, cuts: isFull ? 40 : 8),
        ]
    }

    private static func kill(_ name: String, messages: Int, kills: Int) -> Scenario {
        Scenario(name, "\(messages) messages wait, the agent is killed (SIGKILL) \(kills) times at its work") {
            try await KillScenario(messages: messages, kills: kills).run(&$0)
        }
    }

    private static func cut(messages: Int, cuts: Int) -> Scenario {
        Scenario("cut", "\(messages) messages come, the connection is cut \(cuts) times, by RST and FIN in turn") {
            try await CutScenario(messages: messages, cuts: cuts).run(&$0)
        }
    }
}
