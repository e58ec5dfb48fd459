import KiiPushCore
import TestSupport
import Testing

@Suite struct StrictOrderTests {
    private func run(
        _ directory: String, _ configuration: PushAgent.Configuration, _ handler: RecordingHandler,
        _ body: @escaping @Sendable (AsyncStream<PushEvent>) async throws -> Void
    ) async throws {
        var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
        settings.isStrictlyOrdered = true
        // So many attempts that the message does not become a dead letter in the first run.
        settings.retryDelays = Array(repeating: .seconds(3), count: 100)
        let runtime = try PushRuntime(configuration: settings)
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
        let events = agent.events
        try await whileRunning(agent) { try await body(events) }
        await runtime.shutdown()
    }

    @Test func aMessageThatWaitsForItsRetryHoldsBackItsSuccessorsInTheNextRun() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                try await self.run(directory, configuration, RecordingHandler { _ in .failed }) { events in
                    try await broker.bring((1...5).map { .message($0, packetID: UInt16($0)) })
                    _ = await firstEvent(events) { event in
                        if case .message(let message) = event, case .failed = message.kind { true } else { false }
                    }
                }
                let handler = RecordingHandler()
                try await self.run(directory, configuration, handler) { _ in
                    let calls = await handler.next(5)
                    #expect(calls.compactMap { $0.message.rawPayload["n"]?.int64 } == [1, 2, 3, 4, 5])
                    #expect(calls.first.map { $0.context.attempt >= 2 } == true)
                    #expect(calls.dropFirst().map(\.context.attempt) == [1, 1, 1, 1])
                }
            }
        }
    }
}
