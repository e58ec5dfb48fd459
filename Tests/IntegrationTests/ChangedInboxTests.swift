import KiiPushCore
import TestSupport
import Testing

@Suite struct ChangedInboxTests {
    /// The broker loses its session while the inbox is in memory. In a new session it may give a new message the packet
    /// identifier of a message in the file, and mark it as a duplicate.
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
            // After the first run with the file again, the agent knows that the session is still the same.
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

    /// Runs the agent until message `last`, and returns the numbers of the handled messages.
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
