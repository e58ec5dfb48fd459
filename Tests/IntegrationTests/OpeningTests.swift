import KiiPushCore
import TestSupport
import Testing

@Suite struct OpeningTests {
    @Test func aDiskThatIsFullAtTheStartIsWaitedFor() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory, configure: { $0.environment.maximumInboxBytes = 4096 }) {
                _, runtime, configuration in
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
                let events = agent.events
                try await whileRunning(agent) {
                    for _ in 1...2 {
                        let event = await firstEvent(events) { if case .disconnected = $0 { true } else { false } }
                        guard case .disconnected(let reason, _)? = event else {
                            Issue.record("the agent ended")
                            return
                        }
                        #expect(reason.contains("inbox.sqlite"))
                    }
                }
            }
        }
    }
}
