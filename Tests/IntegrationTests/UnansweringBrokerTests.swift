import Glibc
import KiiPushCore
import TestSupport
import Testing

@Suite struct UnansweringBrokerTests {
    /// Sends `bytes` every 20 ms, and returns whether the client leaves within a minute.
    private static func drip(_ bytes: [UInt8], to connection: FakeConnection) -> Bool {
        for _ in 1...3000 {
            guard (try? connection.send(bytes: bytes)) != nil else { return true }
            _ = poll(nil, 0, 20)
        }
        return false
    }

    private func agent(_ runtime: PushRuntime, _ configuration: PushAgent.Configuration) -> PushAgent {
        PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
    }

    private func firstLoss(_ events: AsyncStream<PushEvent>) async -> String? {
        let loss = await firstEvent(events) { if case .disconnected = $0 { true } else { false } }
        guard case .disconnected(let reason, _) = loss else { return nil }
        return reason
    }

    /// The bytes begin a message that never ends.
    @Test func bytesWithoutAnAnswerDoNotKeepADeadConnection() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var configuration = configuration
            configuration.keepAlive = .seconds(1)
            let agent = self.agent(runtime, configuration)
            let events = agent.events
            try await whileRunning(agent) {
                let hasLeft = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    try connection.send(bytes: [0x32, 0x80, 0x7D])
                    return Self.drip([0x00], to: connection)
                }
                try #require(hasLeft, "the connection still stands")
                #expect(await self.firstLoss(events) == "the broker did not answer in time (keepalive)")
            }
        }
    }

    @Test func answersToNothingDoNotTakeTheTimeOfSuback() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory, configure: { $0.environment.connectTimeout = .seconds(2) }) {
                broker, runtime, configuration in
                let agent = self.agent(runtime, configuration)
                let events = agent.events
                try await whileRunning(agent) {
                    var reason: String? = "held up"
                    // On a busy machine the client may give up before SUBSCRIBE; the broker then accepts its next
                    // connection.
                    while reason?.contains("SUBACK") == false {
                        let isSubscribing = try await broker.play { broker in
                            let connection = try broker.accept()
                            guard case .connect? = try? connection.receive() else { return false }
                            try? connection.send(.connack(MQTTConnack(sessionPresent: true, code: .accepted)))
                            guard case .subscribe? = try? connection.receive() else { return false }
                            guard Self.drip([0xD0, 0x00], to: connection) else {
                                throw TestFailure("SUBACK is still waited for")
                            }
                            return true
                        }
                        reason = await self.firstLoss(events)
                        #expect(!isSubscribing || reason == "the broker sent no SUBACK in time")
                    }
                }
            }
        }
    }
}
