import Foundation
import KiiPushCore
import TestSupport
import Testing

/// The limit of dead letters: unprocessable messages displace one another; dead letters of a handler stop reading.
@Suite struct DeadLetterBoundTests {
    private static func publish(_ number: Int, _ payload: String) -> MQTTPacket {
        .publish(
            MQTTPublish(topic: "topic-1", payload: Array(payload.utf8), qos: .atLeastOnce, packetID: UInt16(number)))
    }

    private static func undecodable(_ number: Int) -> MQTTPacket {
        let text = "no message: \(number) "
        return self.publish(number, text + String(repeating: "x", count: 60_000 - text.utf8.count))
    }

    @Test func messagesThatNobodyCanHandleMakeRoomForOneAnother() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.bounds.deadLetterBytes = 1 << 20
                let bounds = settings.bounds
                let runtime = try PushRuntime(configuration: settings)
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                let events = agent.events
                try await whileRunning(agent) {
                    let connection = try await broker.play { broker in
                        let connection = try broker.acceptSession()
                        for number in 1...200 {
                            try connection.send(Self.undecodable(number))
                            _ = try connection.receiveAcknowledgements(1)
                        }
                        try connection.send(.message(201, packetID: 201))
                        _ = try connection.receiveAcknowledgements(1)
                        return connection
                    }
                    #expect(await handler.next(1).map { $0.message.rawPayload["n"]?.int64 } == [201])
                    let event = await firstEvent(events) {
                        if case .notice(.deadLettersRemoved, _, _) = $0 { true } else { false }
                    }
                    #expect(event != nil)
                    let letters = try await runtime.deadLetters().all()
                    let bytes = letters.reduce(0) { $0 + $1.payload.count }
                    #expect(bytes <= 512 << 10, "\(bytes) bytes are kept")
                    // Later letters are cut to 8,192 bytes, so more than 50 fit.
                    #expect(letters.count > 50)
                    #expect(letters.first.map { $0.messageID > 1 } == true)
                    let last = try #require(letters.last)
                    #expect(last.messageID == 200)
                    #expect(last.payload.count == 8192)
                    #expect(last.payload.starts(with: Array("no message: 200 xxx".utf8)))
                    #expect(last.originalLength == 60_000)
                    guard case .publish(let sent) = Self.undecodable(200) else { throw TestFailure("no PUBLISH") }
                    #expect(last.reason.hasPrefix("undecodable: "))
                    #expect(
                        last.reason.hasSuffix("SHA-256 of all 60000 bytes: \(SHA256.hexadecimal(sent.payload))"))
                    let ledger = try await runtime.ledger()
                    #expect(ledger.received == 201)
                    #expect(ledger.dead == Int64(letters.count))
                    #expect(ledger.isBalanced)
                    let stock = try InboxReader(stateDirectory: directory).deadLetterStock(bounds: bounds)
                    #expect(stock.count == ledger.dead)
                    #expect(!stock.isFull)
                    withExtendedLifetime(connection) {}
                }
                #expect(try LedgerAudit.problems(inStateDirectory: directory) == [])
                await runtime.shutdown()
            }
        }
    }

    /// The agent deletes no message that a handler has seen; only a person decides about it.
    @Test func messagesThatAHandlerGaveUpOnStopReadingUntilSomeAreDropped() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.bounds.deadLetters = 20
                let runtime = try PushRuntime(configuration: settings)
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: RejectingHandler(), reconnect: .quick)
                let (pauses, resumptions) = (agent.events, agent.events)
                try await whileRunning(agent) {
                    let connection = try await broker.bring((1...20).map { .message($0, packetID: UInt16($0)) })
                    let event = await firstEvent(pauses) {
                        if case .trouble(.receiving, _) = $0 { true } else { false }
                    }
                    guard case .trouble(.receiving, let reason)? = event else { throw TestFailure("no pause was told") }
                    #expect(reason.hasPrefix("the inbox holds 20 dead letters"))
                    #expect(reason.hasSuffix("retry or drop some"))
                    // The agent does not read this message now.
                    try await broker.play { _ in try connection.send(.message(21, packetID: 21)) }
                    _ = try await runtime.ledger()
                    #expect(try await runtime.ledger().received == 20)
                    for letter in Int64(1)...2 { #expect(try await runtime.dropDeadLetter(letter)) }
                    _ = await firstEvent(resumptions) { if case .recovered(.receiving) = $0 { true } else { false } }
                    let acknowledged = try await broker.play { _ in try connection.receiveAcknowledgements(1) }
                    #expect(acknowledged == [21])
                }
                await runtime.shutdown()
            }
        }
    }

    @Test(arguments: [(3, Int64.max), (.max, 1 << 20)])
    func anAgentThatBeginsWithTooManyIsTold(letters: Int, bytes: Int64) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                do {
                    let inbox = try Inbox(path: "\(directory)/inbox.sqlite")
                    try inbox.transaction { transaction throws(InboxError) in
                        let key = try transaction.installation(id: "former")
                        for _ in 1...3 {
                            try transaction.insert(
                                StoredMessage(
                                    installation: key, topic: "t", payload: Array(repeating: 0, count: 400_000),
                                    receivedAt: .now(), state: .dead,
                                    reason: "rejected: no"))
                        }
                    }
                }
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                (settings.bounds.deadLetters, settings.bounds.deadLetterBytes) = (letters, bytes)
                let runtime = try PushRuntime(configuration: settings)
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
                let events = agent.events
                try await whileRunning(agent) {
                    let connection = try await broker.play { try $0.acceptSession() }
                    let event = await firstEvent(events) {
                        if case .trouble(.receiving, _) = $0 { true } else { false }
                    }
                    #expect(event != nil)
                    withExtendedLifetime(connection) {}
                }
                await runtime.shutdown()
            }
        }
    }
}

private struct RejectingHandler: RemoteNotificationHandler {
    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        completion.reject("no")
    }
}
