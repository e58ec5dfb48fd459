import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct ConnectionFaultTests {
    /// With the inbox in memory, an acknowledgement waits for the handler. Some brokers send the message again
    /// meanwhile.
    @Test func aMessageThatIsSentAgainWhileItsHandlerRunsHoldsUpNoAcknowledgement() async throws {
        try await withFakeBroker { broker, durable, configuration in
            var settings = PushRuntime.Configuration.patient(stateDirectory: durable.configuration.stateDirectory)
            settings.inbox = .memory
            let runtime = try PushRuntime(configuration: settings)
            let release = DispatchSemaphore(value: 0)
            let handler = RecordingHandler { call in
                if call.message.rawPayload["n"]?.int64 == 1 { release.wait() }
                return .newData
            }
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    try connection.send(.message(1, packetID: 1))
                    return connection
                }
                _ = await firstEvent(events) { if case .message = $0 { true } else { false } }
                _ = try await broker.play { _ in
                    try kept.send(
                        .message(1, packetID: 1, duplicate: true),
                        .message(2, packetID: 2))
                }
                _ = await firstEvent(events) {
                    if case .message(let event) = $0 { event.messageID == 2 } else { false }
                }
                release.signal()
                let acknowledged = try await broker.play { _ in try kept.receiveAcknowledgements(3) }
                #expect(acknowledged == [1, 1, 2])
                let numbers = await handler.next(2).map { $0.message.rawPayload["n"]?.int64 }
                #expect(numbers == [1, 2])
            }
            await runtime.shutdown()
        }
    }

    /// The broker disconnects while the agent does not read, because its store is locked. The agent must still notice a
    /// silent broker on the next connection.
    @Test func aConnectionThatFollowsAPausedOneIsWatched() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var configuration = configuration
            configuration.keepAlive = .seconds(2)
            let path = "\(runtime.configuration.stateDirectory)/inbox.sqlite"
            // The store works again before the next connection.
            var slow = ReconnectPolicy.Configuration()
            slow.baseDelay = .seconds(3)
            slow.maximumDelay = .seconds(3)
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: slow)
            let (failures, recoveries) = (agent.events, agent.events)
            let hasFailed = DispatchSemaphore(value: 0)
            try await whileRunning(agent) {
                async let sent = broker.play { broker in
                    while true {
                        let first = try broker.accept()
                        // On a busy machine the client may leave before the broker's first message; the broker then
                        // accepts its next connection.
                        guard let sent = try? Self.fill(first, path, until: hasFailed) else { continue }
                        first.reset()
                        return sent
                    }
                }
                _ = await firstEvent(failures) { if case .trouble(.storing, _) = $0 { true } else { false } }
                hasFailed.signal()
                #expect(try await sent > Self.unstoredLimit)
                _ = await firstEvent(recoveries) { if case .recovered(.storing) = $0 { true } else { false } }
                let asked = try await broker.play { broker in
                    let second = try broker.acceptSession()
                    var asked = 0
                    while asked < Self.askedForEver, case .pingreq? = try? second.receive() { asked += 1 }
                    return asked
                }
                // The agent sent at least one PINGREQ, got no answer, and closed the connection.
                #expect((1..<Self.askedForEver).contains(asked))
            }
        }
    }

    /// Handled messages are removed to make room for new ones.
    @Test func aDiskThatHandledMessagesFillGoesOnTakingMessages() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.environment.maximumInboxBytes = 1 << 20
                let runtime = try PushRuntime(configuration: settings)
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                let (events, failures) = (agent.events, agent.events)
                try await whileRunning(agent) {
                    let connection = try await broker.play { try $0.acceptSession() }
                    // Waiting messages also fill the disk, so each turn waits until all its messages are handled.
                    for turn in 0..<20 {
                        try await broker.play { _ in try Self.send(50, after: turn * 50, on: connection) }
                        #expect(await handler.next(50).count == 50)
                    }
                    let event = await firstEvent(events) {
                        if case .notice(.historyCut, _, _) = $0 { true } else { false }
                    }
                    guard case .notice(.historyCut, _, let messages?)? = event else {
                        throw TestFailure("no cut was told")
                    }
                    #expect(messages > 50)
                    withExtendedLifetime(connection) {}
                }
                // The agent makes room for 0.2 s at a time, which may not suffice at first on a busy machine.
                var isFailing = false
                for await event in failures {
                    if case .trouble(.storing, _) = event { isFailing = true }
                    if case .recovered(.storing) = event { isFailing = false }
                    if case .stopping = event { break }
                }
                #expect(!isFailing)
                await runtime.shutdown()
            }
        }
    }

    /// Sends messages of 4 KB, each after the acknowledgement of the one before.
    private static func send(_ count: Int, after last: Int, on connection: FakeConnection) throws {
        let padding = [UInt8](repeating: 0x20, count: 4000)
        for number in last + 1...last + count {
            let payload = Array("{\"n\":\(number)}".utf8) + padding
            try connection.send(
                .publish(
                    MQTTPublish(topic: "topic-1", payload: payload, qos: .atLeastOnce, packetID: UInt16(number))))
            _ = try connection.receiveAcknowledgements(1)
        }
    }

    /// Bytes of unstored messages at which the agent stops reading.
    private static let unstoredLimit = 8 << 20
    private static let askedForEver = 400

    /// Opens the session and sends while the store is locked, until the agent stops reading and `hasFailed` is
    /// signalled. Returns the number of sent bytes.
    private static func fill(
        _ connection: FakeConnection, _ path: String, until hasFailed: DispatchSemaphore
    ) throws -> Int {
        try connection.open(sessionPresent: true)
        var bytes: [UInt8] = []
        for identifier in 1...100 {
            let packet = MQTTPublish(
                topic: "topic-1", payload: [UInt8](repeating: 0x20, count: 200_000), qos: .atLeastOnce,
                packetID: UInt16(identifier))
            try MQTTPacket.publish(packet).encode(into: &bytes)
        }
        var sent: Result<Int, any Error> = .success(0)
        // This transaction locks the store.
        try Inbox(path: path).transaction { _ throws(InboxError) in
            sent = Result { try connection.fill(with: bytes, beyond: Self.unstoredLimit) }
            if case .success = sent { hasFailed.wait() }
        }
        return try sent.get()
    }

    /// The broker's machine vanishes. The unanswered acknowledgement shows it, long before the keepalive would.
    @Test func aLinkThatIsHalfOpenIsFoundByWhatIsSentOnIt() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var settings = ReconnectPolicy.Configuration()
            settings.stableAfter = .zero
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: settings)
            let events = agent.events
            try await whileRunning(agent) {
                let connections = try await broker.play { broker in
                    let first = try broker.acceptSession()
                    first.goDark()
                    try first.send(.message(1, packetID: 1))
                    let second = try broker.acceptSession()
                    return [first, second]
                }
                let loss = await firstEvent(events) { if case .disconnected = $0 { true } else { false } }
                guard case .disconnected(let reason, let delay) = loss else { throw TestFailure("no loss was told") }
                #expect(reason.contains("the peer cannot be reached any more: Connection timed out"))
                #expect(delay <= .milliseconds(300))
                withExtendedLifetime(connections) {}
            }
        }
    }

    @Test func aProofOfArrivalIsStoredThoughNothingElseHappens() async throws {
        try await withFakeBroker(configure: { $0.environment.pingTimeout = .seconds(600) }) {
            broker, runtime, configuration in
            var configuration = configuration
            configuration.keepAlive = .seconds(1)
            let path = "\(runtime.configuration.stateDirectory)/inbox.sqlite"
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await broker.bring([.message(1, packetID: 1)])
                _ = await firstEvent(events) { event in
                    if case .message(let message) = event, case .done = message.kind { true } else { false }
                }
                // The next turn stores the handler's answer; after that, nothing is left to write.
                for _ in 1...2 { try await runtime.loop.run {} }
                #expect(try Self.unproven(path) == 1)
                try await broker.play { _ in
                    guard case .pingreq = try kept.receive() else { throw TestFailure("no PINGREQ") }
                    try kept.send(.pingresp)
                }
                while try Self.unproven(path) > 0 { try await Task.sleep(for: .milliseconds(10)) }
            }
        }
    }

    /// The broker may have begun another session if the answer to CONNECT was lost. A message may then be new even with
    /// the identifier and the bytes of an earlier one. The process may also end before it learns of the new session.
    @Test func afterAConnectWithoutAnAnswerNothingPassesForARepetition() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let path = "\(runtime.configuration.stateDirectory)/inbox.sqlite"
            let handler = RecordingHandler()
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            try await whileRunning(agent) {
                let kept = try await broker.play { broker in
                    let first = try broker.acceptSession()
                    // The identifier is not 1, as of a broker that keeps identifiers across connections.
                    try first.send(.message(1, packetID: 7))
                    #expect(try first.receiveAcknowledgements(1) == [7])
                    #expect(try Self.unproven(path) == 1)
                    first.reset()
                    let second = try broker.accept()
                    guard case .connect = try second.receive() else { throw TestFailure("no CONNECT") }
                    #expect(try Self.unproven(path) == 0, "what a next process would take for a repetition")
                    try second.send(.connack(MQTTConnack(sessionPresent: true, code: .accepted)))
                    guard case .subscribe(let subscribe) = try second.receive() else {
                        throw TestFailure("no SUBSCRIBE")
                    }
                    try second.send(.suback(MQTTSuback(packetID: subscribe.packetID, grants: [.atLeastOnce])))
                    try second.send(.message(1, packetID: 7, duplicate: true))
                    #expect(try second.receiveAcknowledgements(1) == [7])
                    #expect(try Self.unproven(path) == 1)
                    second.reset()
                    let third = try broker.accept()
                    guard case .connect = try third.receive() else { throw TestFailure("no CONNECT") }
                    third.reset()
                    let fourth = try broker.acceptSession()
                    try fourth.send(.message(1, packetID: 7, duplicate: true), .message(2, packetID: 8))
                    #expect(try fourth.receiveAcknowledgements(2) == [7, 8])
                    return fourth
                }
                // The handler does not get the repetition on the second connection.
                #expect(await handler.next(3).map { $0.message.rawPayload["n"]?.int64 } == [1, 1, 2])
                withExtendedLifetime(kept) {}
            }
        }
    }

    /// Number of acknowledgements that may not have arrived, from the inbox file.
    private static func unproven(_ path: String) throws -> Int {
        var access = Inbox.Configuration()
        access.isReadOnly = true
        return try Inbox(path: path, configuration: access).unproven(installation: 1).count
    }

    @Test func storedMessagesOfAFormerInstallationAreDelivered() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let directory = runtime.configuration.stateDirectory
            let file = "\(directory)/agents/default.json"
            let state = try JSONValue(parsing: try PrivateFile.read(file) ?? [])
            let members = (state.members ?? []).map { ($0.key, $0.value) }
            try PrivateFile.replace(
                file, with: JSONValue.object(members + [("formerInstallationIDs", ["former"])]).serialized())
            try Inbox(path: "\(directory)/inbox.sqlite").transaction { transaction throws(InboxError) in
                let current = try transaction.installation(id: state["installationID"]?.string ?? "")
                let former = try transaction.installation(id: "former")
                for installation in [current, former] {
                    try transaction.insert(
                        StoredMessage(
                            installation: installation, topic: "former-topic", payload: Array("{}".utf8),
                            receivedAt: .now(), state: .waiting))
                }
            }
            let handler = RecordingHandler()
            try await whileRunning(
                PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            ) {
                #expect(Set(await handler.next(2).map(\.context.messageID)) == [1, 2])
            }
        }
    }

    @Test func aRunEndsWithItsRuntime() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var slow = ReconnectPolicy.Configuration()
            slow.baseDelay = .seconds(600)
            slow.maximumDelay = .seconds(600)
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: slow)
            let events = agent.events
            async let run: Void = agent.run()
            let connection = try await broker.play { try $0.acceptSession() }
            #expect(await firstEvent(events) { if case .connected = $0 { true } else { false } } != nil)
            await runtime.shutdown()
            try await run
            withExtendedLifetime(connection) {}
        }
    }
}
