import KiiPushCore
import TestSupport
import Testing

/// Agents on a machine that sleeps, or whose calendar is changed. Every delay that the tests must not wait for is ten
/// minutes.
@Suite struct SleepTests {
    private static let patient: ReconnectPolicy.Configuration = {
        var configuration = ReconnectPolicy.Configuration()
        configuration.stableAfter = .zero
        configuration.firstDelayAfterPeerLoss = .seconds(6000)
        configuration.baseDelay = .seconds(600)
        configuration.maximumDelay = .seconds(600)
        return configuration
    }()

    /// Runs `body` with an agent on the test's own clocks.
    private func withAgent(
        pingTimeout: Duration? = nil,
        prepare: (String) throws -> Void = { _ in },
        _ body:
            @escaping @Sendable (FakeBroker, PushRuntime, PushAgent, RecordingHandler, FakeClocks) async throws -> Void
    ) async throws {
        try await withFakeBroker { broker, other, configuration in
            let clocks = FakeClocks()
            var settings = PushRuntime.Configuration(stateDirectory: other.configuration.stateDirectory)
            settings.environment.readClocks = clocks.read
            settings.environment.connectTimeout = .seconds(600)
            settings.environment.pingTimeout = pingTimeout
            try prepare(settings.stateDirectory)
            let runtime = try PushRuntime(configuration: settings)
            let handler = RecordingHandler()
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: handler, reconnect: Self.patient)
            try await body(broker, runtime, agent, handler, clocks)
            await runtime.shutdown()
        }
    }

    private func isConnected(_ event: PushEvent) -> Bool {
        if case .connected = event { true } else { false }
    }

    private func open(_ broker: FakeBroker) async throws -> FakeConnection {
        try await broker.play { try $0.acceptSession() }
    }

    @Test func theBrokerIsAskedAtOnceAndTheConnectionStandsIfItAnswers() async throws {
        // A long timeout, because a busy machine may delay this broker.
        try await self.withAgent(pingTimeout: .seconds(600)) { broker, runtime, agent, handler, clocks in
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await self.open(broker)
                _ = await firstEvent(events, where: self.isConnected)
                try await clocks.jump(runtime, slept: .seconds(3600))
                try await broker.play { _ in
                    guard case .pingreq = try kept.receive() else { throw TestFailure("no PINGREQ") }
                    try kept.send(.pingresp, .message(1, packetID: 1))
                    #expect(try kept.receiveAcknowledgements(1) == [1])
                }
                #expect(await handler.next(1).first?.message.rawPayload["n"]?.int64 == 1)
            }
        }
    }

    /// During the sleep the broker closed the connection, which a PINGREQ shows, or the broker vanished.
    @Test(arguments: [true, false])
    func aConnectionThatDidNotSurviveIsReplacedAtOnce(brokerResets: Bool) async throws {
        try await self.withAgent { broker, runtime, agent, _, clocks in
            let events = agent.events
            let losses = agent.events
            try await whileRunning(agent) {
                let kept = try await self.open(broker)
                _ = await firstEvent(events, where: self.isConnected)
                try await clocks.jump(runtime, slept: .seconds(3600))
                try await broker.play { _ in
                    guard case .pingreq = try kept.receive() else { throw TestFailure("no PINGREQ") }
                    if brokerResets { kept.reset() }
                }
                guard
                    case .disconnected(let reason, let delay) = await firstEvent(
                        losses,
                        where: { event in
                            if case .disconnected = event { true } else { false }
                        })
                else { throw TestFailure("still connected") }
                #expect(brokerResets || reason == "the broker did not answer in time (keepalive)")
                #expect(delay <= .milliseconds(300))
                _ = try await self.open(broker)
            }
        }
    }

    @Test func aPauseEndsWithTheSleep() async throws {
        try await self.withAgent { broker, runtime, agent, _, clocks in
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.play { broker in
                    let connection = try broker.accept()
                    _ = try connection.receive()
                    try connection.send(.connack(MQTTConnack(sessionPresent: false, code: .serverUnavailable)))
                }
                guard
                    case .disconnected(_, let delay) = await firstEvent(
                        events,
                        where: { event in
                            if case .disconnected = event { true } else { false }
                        })
                else { throw TestFailure("no word of it") }
                #expect(delay == .seconds(600))
                // A change of the calendar does not shorten the delay.
                try await clocks.jump(runtime, calendar: .seconds(86_400))
                try await clocks.jump(runtime, slept: .seconds(60))
                _ = try await self.open(broker)
            }
        }
    }

    /// A retry is due in half an hour. The calendar is set back by half an hour, and the retry moves with it. After the
    /// sleep the agent searches for due retries, and finds this one.
    @Test func retriesFollowTheCalendarAndAreLookedForAfterASleep() async throws {
        try await self.withAgent(prepare: { directory in
            let state = try JSONValue(parsing: try PrivateFile.read("\(directory)/agents/default.json") ?? [])
            try Inbox(path: "\(directory)/inbox.sqlite").transaction { transaction throws(InboxError) in
                let sequence = try transaction.insert(
                    StoredMessage(
                        installation: try transaction.installation(id: state["installationID"]?.string ?? ""),
                        topic: "topic-1", payload: Array(#"{"n":7}"#.utf8), receivedAt: .now()))
                let later = MessageChange(sequence: sequence, state: .retry, pause: .seconds(1800))
                try transaction.update(later, at: .now())
            }
        }) { broker, runtime, agent, handler, clocks in
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await self.open(broker)
                _ = await firstEvent(events, where: self.isConnected)
                try await clocks.jump(runtime, slept: .seconds(10), calendar: .seconds(-1800))
                #expect(await handler.next(1).first?.message.rawPayload["n"]?.int64 == 7)
                withExtendedLifetime(kept) {}
            }
        }
    }
}
