import KiiPushCore
import TestSupport
import Testing

/// What a broker sends at QoS 2 though QoS 1 was asked for, and packets that answer nothing of ours.
@Suite struct ExactlyOnceTests {
    private static func message(_ number: Int, duplicate: Bool = false) -> MQTTPacket {
        .publish(
            MQTTPublish(
                topic: "topic-1", payload: Array("{\"n\":\(number)}".utf8), qos: .exactlyOnce, duplicate: duplicate,
                packetID: 1))
    }

    private static func expect(_ packet: MQTTPacket, from connection: FakeConnection) throws {
        let received = try connection.receive()
        guard received == packet else { throw TestFailure("\(received) instead of \(packet)") }
    }

    /// [MQTT-4.3.3-2]
    @Test(arguments: [PushRuntime.Configuration.Inbox.file, .memory])
    func aMessageThatIsRepeatedBeforeItIsReleasedIsDeliveredOnce(
        inbox: PushRuntime.Configuration.Inbox
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory, inbox: inbox) { broker, runtime, configuration in
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    let kept = try await broker.play { broker in
                        let first = try broker.acceptSession()
                        try first.send(Self.message(1))
                        try Self.expect(.pubrec(packetID: 1), from: first)
                        try first.send(Self.message(1, duplicate: true))
                        try Self.expect(.pubrec(packetID: 1), from: first)
                        // Twice at once, so that both are in one turn.
                        try first.send(Self.message(1, duplicate: true), Self.message(1, duplicate: true))
                        for _ in 1...2 { try Self.expect(.pubrec(packetID: 1), from: first) }
                        first.reset()
                        let second = try broker.acceptSession()
                        try second.send(Self.message(1, duplicate: true))
                        try Self.expect(.pubrec(packetID: 1), from: second)
                        try second.send(.pubrel(packetID: 1))
                        try Self.expect(.pubcomp(packetID: 1), from: second)
                        // The identifier is free, and an equal message another one.
                        try second.send(Self.message(1), Self.message(1, duplicate: true))
                        for _ in 1...2 { try Self.expect(.pubrec(packetID: 1), from: second) }
                        try second.send(.pubrel(packetID: 1))
                        try Self.expect(.pubcomp(packetID: 1), from: second)
                        try second.send(Self.message(2))
                        try Self.expect(.pubrec(packetID: 1), from: second)
                        return second
                    }
                    #expect(await handler.next(3).map { $0.message.rawPayload["n"]?.int64 } == [1, 1, 2])
                    withExtendedLifetime(kept) {}
                }
            }
        }
    }

    /// An identifier that was not released and comes with other bytes is another message of a broker that has forgotten.
    @Test func anotherMessageUnderAnIdentifierThatWasNotReleasedIsDelivered() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = RecordingHandler()
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            try await whileRunning(agent) {
                let kept = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    for number in 1...3 {
                        try connection.send(Self.message(number))
                        try Self.expect(.pubrec(packetID: 1), from: connection)
                    }
                    return connection
                }
                #expect(await handler.next(3).map { $0.message.rawPayload["n"]?.int64 } == [1, 2, 3])
                withExtendedLifetime(kept) {}
            }
        }
    }

    @Test(arguments: [MQTTPacket.puback(packetID: 9), .pubcomp(packetID: 9)])
    func anAcknowledgementOfNothingIsIgnored(packet: MQTTPacket) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = RecordingHandler()
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    try connection.send(packet, .message(1, packetID: 5))
                    return connection
                }
                let outcome = await firstEvent(events) {
                    switch $0 {
                    case .disconnected, .message: true
                    default: false
                    }
                }
                guard case .message = outcome else { throw TestFailure("\(outcome as Any)") }
                withExtendedLifetime(kept) {}
            }
        }
    }
}
