/// One way to lose messages, and the setup for trying it.
package struct Scenario: Sendable {
    package let name: String
    package let summary: String
    /// The scenario that proves nothing unless messages are lost in this one.
    package let controlled: String?
    private let kind: ReceiverKind
    private let setup: FaultBench.Setup
    private let body: @Sendable (inout Play) async throws -> String

    /// - Parameters:
    ///   - kind: the receiver, unless the caller names another one.
    ///   - setup: the setup of its bench.
    ///   - controlled: the scenario that proves nothing unless messages are lost in this one.
    ///   - body: plays the scenario, and returns a description of the faults.
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

    /// Plays the scenario with this project's agent, or with another client.
    ///
    /// - Parameter usesWebSocket: whether this project's agent connects through a WebSocket.
    /// - Throws: ``LeftOut`` if the scenario cannot be played here; another error if it could not be played to its end.
    package func run(
        with other: ReceiverKind? = nil, usesWebSocket: Bool = false, seed: UInt64
    ) async throws -> Outcome {
        let kind = other ?? self.kind
        var setup = self.setup
        setup.qos = kind.qos
        setup.usesWebSocket = usesWebSocket
        return try await FaultBench.with(seed: seed, setup: setup) { try await self.play(on: $0, kind) }
    }

    /// Plays the scenario with this project's agent and another broker.
    ///
    /// - Throws: if the scenario could not be played to its end.
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
            // The first error is the important one.
            try? await play.receiver.kill()
            throw error
        }
    }
}
