import KiiPushCore
import TestSupport
import Testing

/// Messages at QoS 2 although the agent subscribed at QoS 1, and acknowledgements of packets that the agent never sent.
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
                        // Two duplicates in one write, so that one turn of the loop reads both.
                        try first.send(Self.message(1, duplicate: true), Self.message(1, duplicate: true))
                        for _ in 1...2 { try Self.expect(.pubrec(packetID: 1), from: first) }
                        first.reset()
                        let second = try broker.acceptSession()
                        try second.send(Self.message(1, duplicate: true))
                        try Self.expect(.pubrec(packetID: 1), from: second)
                        try second.send(.pubrel(packetID: 1))
                        try Self.expect(.pubcomp(packetID: 1), from: second)
                        // After PUBREL the identifier is free, so an equal message is a new one.
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

    /// An unreleased identifier with other bytes is a new message, of a broker that lost its state.
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
