import KiiPushCore
import TestSupport
import Testing

/// A broker that restarts, or a link that is cut, again and again.
@Suite struct RestartingBrokerTests {
    @Test func connectionsThatStoodAreNoEvidenceOfAnotherReceiver() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var reconnect = ReconnectPolicy.Configuration.quick
            // Each connection stood for so long, and none was closed at once.
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
                    if case .takenOver(let takeover) = event { Issue.record("after \(losses): \(takeover)") }
                    guard case .disconnected(let reason, let delay) = event else { continue }
                    losses += 1
                    #expect(delay <= .milliseconds(10))
                    #expect(!reason.contains("another receiver"))
                    if losses == 8 { break }
                }
            }
        }
    }
}
