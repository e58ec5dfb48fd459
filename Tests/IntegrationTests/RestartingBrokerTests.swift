import KiiPushCore
import TestSupport
import Testing

@Suite struct RestartingBrokerTests {
    @Test func connectionsThatStoodAreNoEvidenceOfAnotherReceiver() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var reconnect = ReconnectPolicy.Configuration.quick
            // Each connection counts as stable, and none as closed at once.
            reconnect.stableAfter = .zero
            reconnect.pattern.kickedWithin = .zero
            reconnect.firstDelayAfterPeerLoss = .milliseconds(10)
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: reconnect)
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.play { broker in for _ in 1...9 { try broker.acceptSession().reset() } }
                var losses = 0
                for await event in events {
                    if case .notice(.takenOver, let takeover, _) = event {
                        Issue.record("after \(losses): \(takeover)")
                    }
                    guard case .disconnected(let reason, let delay) = event else { continue }
                    losses += 1
                    #expect(delay <= .milliseconds(10))
                    #expect(!reason.contains("another receiver"))
                    if losses == 8 { break }
                }
            }
        }
    }

    /// The delay before each connection, also before a probe of the broker. A busy test has time to act as the broker.
    private static let pause = Duration.seconds(1)

    /// Every connection is short, and the agent's next attempt comes only after the broker is back.
    private static let unhurried: ReconnectPolicy.Configuration = {
        var reconnect = ReconnectPolicy.Configuration()
        reconnect.baseDelay = RestartingBrokerTests.pause
        reconnect.firstDelayAfterPeerLoss = RestartingBrokerTests.pause
        reconnect.pattern.kickedWithin = .zero
        // Two closures suffice, so that a test has few pauses.
        reconnect.pattern.closures = 2
        return reconnect
    }()

    /// Resets a session, and waits for the agent's event about the loss.
    private func loss(
        _ broker: FakeBroker, _ events: AsyncStream<PushEvent>,
        reset: @escaping @Sendable (FakeConnection) throws -> Void
    ) async throws {
        let connection = try await broker.play { try $0.acceptSession() }
        for await event in events { if case .connected = event { break } }
        try await broker.play { _ in try reset(connection) }
        for await event in events {
            if case .notice(.takenOver, let takeover, _) = event { Issue.record("\(takeover)") }
            guard case .disconnected(let reason, let delay) = event else { continue }
            #expect(delay <= Self.pause, "\(reason)")
            break
        }
    }

    private func whileUnhurried(
        _ body: @escaping @Sendable (FakeBroker, AsyncStream<PushEvent>) async throws -> Void
    ) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(),
                reconnect: Self.unhurried)
            let events = agent.events
            try await whileRunning(agent) { try await body(broker, events) }
        }
    }

    /// As when mosquitto is killed and restarts 0.4 s later, before the agent's next attempt.
    @Test func aBrokerThatIsGoneRightAfterItClosedIsNoReceiver() async throws {
        try await self.whileUnhurried { broker, events in
            for _ in 1...3 {
                try await self.loss(broker, events) { connection in
                    broker.goAway()
                    connection.reset()
                }
                try broker.comeBack()
            }
        }
    }

    /// The load balancer accepts connections while its broker is gone.
    @Test func aLoadBalancerWithoutItsBrokerIsNoReceiver() async throws {
        try await self.whileUnhurried { broker, events in
            try await self.loss(broker, events) { $0.reset() }
            try await self.loss(broker, events) { connection in
                connection.reset()
                // The agent's probe of the broker, which gets no answer.
                _ = try broker.accept()
            }
            try await self.loss(broker, events) { $0.reset() }
        }
    }
}
