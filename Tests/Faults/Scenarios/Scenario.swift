/// One way to lose messages, and what it takes to try it.
package struct Scenario: Sendable {
    package let name: String
    package let summary: String
    /// The scenario that it belongs to: in this one messages have to be lost, or that one shows nothing.
    package let controlled: String?
    private let kind: ReceiverKind
    private let setup: FaultBench.Setup
    private let body: @Sendable (inout Play) async throws -> String

    /// - Parameters:
    ///   - kind: the receiver, unless another one is asked for.
    ///   - setup: what it is played on.
    ///   - controlled: the scenario that would show nothing if no message was lost in this one.
    ///   - body: plays it and says what was done.
    init(
        _ name: String, _ summary: String, with kind: ReceiverKind = .agent(), on setup: FaultBench.Setup = .init(),
        controlling controlled: String? = nil,
        _ body: @escaping @Sendable (inout Play) async throws -> String
    ) {
        self.name = name
        self.summary = summary
        self.controlled = controlled
        self.kind = kind
        self.setup = setup
        self.body = body
    }

    /// Plays it with our agent, or with another client.
    ///
    /// - Parameter usesWebSocket: whether our agent connects through a WebSocket.
    /// - Throws: ``LeftOut`` where it cannot be played, or when it could not be played to its end.
    package func run(
        with other: ReceiverKind? = nil, usesWebSocket: Bool = false, seed: UInt64
    ) async throws -> Outcome {
        let kind = other ?? self.kind
        var setup = self.setup
        setup.qos = kind.qos
        setup.usesWebSocket = usesWebSocket
        return try await FaultBench.with(seed: seed, setup: setup) { try await self.play(on: $0, kind) }
    }

    /// Plays it with our agent and another broker.
    ///
    /// - Throws: when it could not be played to its end.
    package func run(on server: BrokerServer, seed: UInt64) async throws -> Outcome {
        try await FaultBench.with(seed: seed, server: server) { try await self.play(on: $0, self.kind) }
    }

    private func play(on bench: FaultBench, _ kind: ReceiverKind) async throws -> Outcome {
        var play = Play(bench: bench, kind: kind)
        do {
            let faults = try await self.body(&play)
            var outcome = try play.outcome(self.name, faults: faults)
            outcome.hasToLose = self.controlled != nil
            return outcome
        } catch is Play.Stopped {
            try await play.receiver.kill()
            return try play.outcome(self.name, faults: "stopped before the end")
        } catch {
            // What went wrong first is what matters.
            try? await play.receiver.kill()
            throw error
        }
    }
}
