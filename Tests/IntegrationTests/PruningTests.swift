import KiiPushCore
import TestSupport
import Testing

@Suite struct PruningTests {
    private static func waitUntilPruned(_ runtime: PushRuntime) async throws {
        var access = Inbox.Configuration()
        access.isReadOnly = true
        let path = "\(runtime.configuration.stateDirectory)/inbox.sqlite"
        // Pruning has no event; the test's time limit ends this loop.
        while try Inbox(path: path, configuration: access).counts[.done].rows > 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test func handledMessagesOfAnIdleAgentGoWhenTheirTimeIsOver() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.bounds.handledKeptFor = .milliseconds(200)
                settings.environment.sweepInterval = .milliseconds(50)
                let runtime = try PushRuntime(configuration: settings)
                let handler = RecordingHandler()
                try await whileRunning(PushAgent(runtime: runtime, configuration: configuration, handler: handler)) {
                    let connection = try await broker.bring((1...5).map { .message($0, packetID: UInt16($0)) })
                    _ = await handler.next(5)
                    while try await runtime.ledger().done < 5 { try await Task.sleep(for: .milliseconds(20)) }
                    try await Self.waitUntilPruned(runtime)
                    #expect(try await runtime.ledger() == MessageLedger(received: 5, done: 5))
                    withExtendedLifetime(connection) {}
                }
                await runtime.shutdown()
            }
        }
    }

    @Test func aBacklogOfOldOnesGoesAtOnceInManySteps() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                do {
                    let inbox = try Inbox(path: "\(directory)/inbox.sqlite")
                    try inbox.transaction { transaction throws(InboxError) in
                        let key = try transaction.installation(id: "former")
                        for number in 1...3000 {
                            let row = StoredMessage(
                                installation: key, topic: "t", payload: [UInt8(truncatingIfNeeded: number)],
                                receivedAt: Timestamp(millisecondsSinceEpoch: 1))
                            let sequence = try transaction.insert(row)
                            try transaction.update(
                                MessageChange(sequence: sequence, state: .done),
                                at: Timestamp(millisecondsSinceEpoch: 1))
                        }
                    }
                }
                // A step removes 200 rows, and the next regular sweep would come an hour later.
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.environment.sweepInterval = .seconds(3600)
                let runtime = try PushRuntime(configuration: settings)
                let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
                try await whileRunning(agent) {
                    let connection = try await broker.play { try $0.acceptSession() }
                    try await Self.waitUntilPruned(runtime)
                    #expect(try await runtime.ledger() == MessageLedger(received: 3000, done: 3000))
                    withExtendedLifetime(connection) {}
                }
                await runtime.shutdown()
            }
        }
    }
}
