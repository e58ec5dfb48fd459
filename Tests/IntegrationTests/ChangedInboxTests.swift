import KiiPushCore
import TestSupport
import Testing

/// An agent that has its inbox in a file, then in memory, then in the file again: all with one session of the broker's.
@Suite struct ChangedInboxTests {
    /// The broker loses its session while the inbox is in memory. Its new one may give a new message the packet identifier
    /// of one that the file has, and repeat it.
    @Test(arguments: [false, true])
    func aFileTakesNothingForARepetitionAfterARunInMemory(hasRunInMemory: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let broker = try FakeBroker()
            try AgentStateFixture(port: broker.port, topic: "topic-1", username: "name", password: "password")
                .write(to: directory)
            let first = try await Self.run(.file, in: directory, until: 1) {
                try await broker.bring([.message(1, packetID: 7)])
            }
            #expect(first == [1])
            if hasRunInMemory {
                let second = try await Self.run(.memory, in: directory, until: 2) {
                    try await broker.play { broker in
                        let connection = try broker.accept()
                        try connection.open(sessionPresent: false)
                        try connection.send(.message(2, packetID: 1))
                        return connection
                    }
                }
                #expect(second == [2])
            }
            // The second time it is known that the session is the one of before.
            for number in [3, 5] {
                let isNew = hasRunInMemory && number == 3
                let last = try await Self.run(.file, in: directory, until: number + 1) {
                    try await broker.bring([
                        .message(number, packetID: UInt16(number) + 20),
                        number == 3
                            ? .message(1, packetID: 7, duplicate: true)
                            : .message(4, packetID: 24, duplicate: true),
                        .message(number + 1, packetID: UInt16(number) + 21),
                    ])
                }
                #expect(last == (isNew ? [3, 1, 4] : [number, number + 1]))
            }
        }
    }

    /// One run of the agent.
    ///
    /// - Parameters:
    ///   - last: the message that ends it.
    ///   - script: what the broker does.
    /// - Returns: what the handler was given.
    private static func run(
        _ inbox: PushRuntime.Configuration.Inbox, in directory: String, until last: Int,
        _ script: @escaping @Sendable () async throws -> FakeConnection
    ) async throws -> [Int] {
        var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
        settings.inbox = inbox
        let runtime = try PushRuntime(configuration: settings)
        var configuration = PushAgent.Configuration(app: AgentStateFixture.app, account: .pseudoUser)
        configuration.usesTLS = false
        configuration.keepAlive = .seconds(600)
        let handler = RecordingHandler()
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
        let numbers = try await whileRunning(agent) {
            let connection = try await script()
            var numbers: [Int] = []
            for await call in handler.calls {
                numbers.append(call.message.rawPayload["n"]?.int64.map { Int($0) } ?? 0)
                if numbers.last == last { break }
            }
            withExtendedLifetime(connection) {}
            return numbers
        }
        await runtime.shutdown()
        return numbers
    }
}
