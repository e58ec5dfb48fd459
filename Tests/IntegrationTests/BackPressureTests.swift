import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct BackPressureTests {
    private static func publish(_ number: Int, bytes: Int = 60_000) -> MQTTPacket {
        let padding = String(repeating: "x", count: bytes)
        return .publish(
            MQTTPublish(
                topic: "topic-1", payload: Array("{\"n\":\(number),\"p\":\"\(padding)\"}".utf8),
                qos: .atLeastOnce, packetID: UInt16(number)))
    }

    private func bounded(_ directory: String, inbox: PushRuntime.Configuration.Inbox = .file) throws -> PushRuntime {
        var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
        settings.inbox = inbox
        settings.bounds.waitingBytes = 256 << 10
        return try PushRuntime(configuration: settings)
    }

    /// A handler that answers nothing before `release` is signalled, and then everything.
    private func handler(heldBy release: DispatchSemaphore) -> RecordingHandler {
        RecordingHandler { _ in
            release.wait()
            release.signal()
            return .newData
        }
    }

    /// - Parameter isSubscribed: whether SUBACK precedes the messages. In an existing session the messages may come
    ///   first.
    @Test(arguments: [(PushRuntime.Configuration.Inbox.file, true), (.file, false), (.memory, true)])
    func aBrokerIsNotReadWhileTooMuchWaits(
        inbox: PushRuntime.Configuration.Inbox, isSubscribed: Bool
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                let runtime = try self.bounded(directory, inbox: inbox)
                let release = DispatchSemaphore(value: 0)
                let handler = self.handler(heldBy: release)
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    try await broker.play { broker in
                        let connection = try isSubscribed ? broker.acceptSession() : broker.accept()
                        if !isSubscribed {
                            _ = try connection.receive()
                            try connection.send(.connack(MQTTConnack(sessionPresent: true, code: .accepted)))
                            _ = try connection.receive()
                        }
                        // 60 MB exceed every socket buffer, so the broker cannot send all bytes to an agent that stops
                        // reading.
                        var bytes: [UInt8] = []
                        for number in 1...1000 { try Self.publish(number).encode(into: &bytes) }
                        #expect(try connection.fill(with: bytes, beyond: 1 << 20) < bytes.count)
                    }
                    let received = try await runtime.ledger().received
                    // The limit of 256 KiB is four messages; one turn of the loop may add more.
                    #expect(received >= 4 && received < 40)
                    release.signal()
                    let connection = try await broker.bring([.message(2000, packetID: 2000)])
                    for await call in handler.calls where call.message.rawPayload["n"]?.int64 == 2000 { break }
                    withExtendedLifetime(connection) {}
                }
                await runtime.shutdown()
            }
        }
    }

    @Test(arguments: [PushRuntime.Configuration.Inbox.file, .memory])
    func alertsThatNobodyHasAnsweredDoNotStopReading(inbox: PushRuntime.Configuration.Inbox) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                let runtime = try self.bounded(directory, inbox: inbox)
                let (handler, presenter) = (RecordingHandler(), RecordingPresenter())
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler,
                    lifecycle: AgentLifecycle(state: .background), presenter: presenter, reconnect: .quick)
                try await whileRunning(agent) {
                    let padding = String(repeating: "x", count: 60_000)
                    let alerts = (1...20).map { number in
                        MQTTPacket.publish(
                            MQTTPublish(
                                topic: "topic-1", payload: Array(#"{"aps":{"alert":"\#(padding)"}}"#.utf8),
                                qos: .atLeastOnce, packetID: UInt16(number)))
                    }
                    let connection = try await broker.bring(alerts + [.message(2000, packetID: 2000)])
                    #expect(await handler.next(1).first?.message["n"]?.int64 == 2000)
                    // The agent stores a presentation after the presenter has returned.
                    while try await runtime.ledger().presented < 20 { try await Task.sleep(for: .milliseconds(10)) }
                    for _ in 1...20 { #expect(try #require(await presenter.next()).respond(.opened(.open))) }
                    #expect(await handler.next(20).count == 20)
                    withExtendedLifetime(connection) {}
                }
                await runtime.shutdown()
            }
        }
    }

    @Test func whatWaitsForAnAgentThatDoesNotRunStopsNoOther() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                try self.fill(directory, [RowState](repeating: .waiting, count: 10))
                let runtime = try self.bounded(directory)
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    let connection = try await broker.play { broker in
                        let connection = try broker.acceptSession()
                        for number in 1...20 {
                            try connection.send(Self.publish(number))
                            _ = try connection.receiveAcknowledgements(1)
                        }
                        return connection
                    }
                    #expect(await handler.next(20).count == 20)
                    withExtendedLifetime(connection) {}
                }
                #expect(try await runtime.ledger().waiting == 10)
                await runtime.shutdown()
            }
        }
    }

    /// The agent reads nothing before its handler has answered enough of the older messages.
    @Test func anAgentThatBeginsWithMoreThanMayWaitCatchesUp() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                let state = try JSONValue(
                    parsing: try #require(try PrivateFile.read("\(directory)/agents/default.json")))
                let installation = try #require(state["installationID"]?.string)
                try self.fill(directory, [RowState](repeating: .waiting, count: 20), installation: installation)
                let runtime = try self.bounded(directory)
                let release = DispatchSemaphore(value: 0)
                let handler = self.handler(heldBy: release)
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    let connection = try await broker.play { try $0.acceptSession() }
                    try await broker.play { _ in try connection.send(.message(2000, packetID: 2000)) }
                    release.signal()
                    #expect(await handler.next(21).count == 21)
                    withExtendedLifetime(connection) {}
                }
                await runtime.shutdown()
            }
        }
    }

    /// Creates an inbox with messages of 50 kB, by default for an installation without an agent.
    private func fill(
        _ directory: String, _ states: [RowState], installation: String = "somebody else's"
    ) throws {
        let inbox = try Inbox(path: "\(directory)/inbox.sqlite")
        try inbox.transaction { transaction throws(InboxError) in
            let key = try transaction.installation(id: installation)
            for state in states {
                try transaction.insert(
                    StoredMessage(
                        installation: key, topic: "t",
                        payload: Array("{}".utf8) + [UInt8](repeating: 0x20, count: 50_000),
                        receivedAt: .now(), state: state))
            }
        }
    }

    @Test func deadLettersOfAnAgentThatDoesNotRunStopNoOtherWhenTheyAreTriedAgain() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                let states = [RowState](repeating: .waiting, count: 6) + [RowState](repeating: .dead, count: 8)
                try self.fill(directory, states)
                let runtime = try self.bounded(directory)
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    let connection = try await broker.bring([Self.publish(1)])
                    for letter in Int64(7)...14 { #expect(try await runtime.retryDeadLetter(letter)) }
                    try await broker.play { _ in
                        for number in 2...20 {
                            try connection.send(Self.publish(number))
                            _ = try connection.receiveAcknowledgements(1)
                        }
                    }
                    #expect(await handler.next(20).count == 20)
                    withExtendedLifetime(connection) {}
                }
                #expect(try await runtime.ledger().waiting == 14)
                await runtime.shutdown()
            }
        }
    }

    @Test func whatWaitsForOthersIsReadAgainUntilItCanBe() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                try self.fill(directory, [RowState](repeating: .waiting, count: 4))
                // The sum of these sizes overflows in SQLite.
                let path = "\(directory)/inbox.sqlite"
                try SQLiteFile(path, for: .changing).execute("UPDATE message SET bytes = \(Int64.max)")
                let runtime = try self.bounded(directory)
                let release = DispatchSemaphore(value: 0)
                let handler = self.handler(heldBy: release)
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    // This releases the handler even if the test fails.
                    defer { release.signal() }
                    let connection = try await broker.bring([Self.publish(1, bytes: 100_000)])
                    let bytes = 50_001 + InboxCounts.rowOverhead
                    try SQLiteFile(path, for: .changing).execute(
                        "UPDATE message SET bytes = \(bytes) WHERE topic = 't'")
                    // `ledger` waits for a turn of the loop, which reads the sizes again.
                    _ = try await runtime.ledger()
                    try await broker.play { _ in
                        try connection.send(Self.publish(2))
                        #expect(try connection.receiveAcknowledgements(1) == [2])
                    }
                    withExtendedLifetime(connection) {}
                }
                await runtime.shutdown()
            }
        }
    }

    @Test func anAgentThatStopsTakesNoMoreAlsoWhenLessWaits() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                let runtime = try self.bounded(directory)
                let release = DispatchSemaphore(value: 0)
                let (starts, started) = AsyncStream<Void>.makeStream()
                let handler = RecordingHandler { _ in
                    started.yield()
                    release.wait()
                    return .newData
                }
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                let events = agent.events
                let running = Task { try await agent.run() }
                let connection = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    try connection.send(Self.publish(1, bytes: 200_000), Self.publish(2, bytes: 100_000))
                    _ = try connection.receiveAcknowledgements(2)
                    // The agent does not read this message while so much waits.
                    try connection.send(Self.publish(3))
                    return connection
                }
                for await _ in starts { break }
                running.cancel()
                _ = await firstEvent(events) { if case .stopping = $0 { true } else { false } }
                release.signal()
                try await running.value
                #expect(try await runtime.ledger() == MessageLedger(received: 2, waiting: 1, done: 1))
                withExtendedLifetime(connection) {}
                await runtime.shutdown()
            }
        }
    }
}
