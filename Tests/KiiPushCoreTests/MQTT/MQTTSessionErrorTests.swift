import Testing

@testable import KiiPushCore

@Suite struct MQTTSessionErrorTests {
    static func violation(_ reason: MQTTError.Reason, in type: MQTTPacketType?) -> [Conversation.Said] {
        [.event(.protocolError(MQTTError(reason, in: type))), .close(.atOnce)]
    }

    static func unsendable(_ reason: MQTTError.Reason, in type: MQTTPacketType) -> [Conversation.Said] {
        [.event(.unsendable(MQTTError(reason, in: type))), .close(.atOnce)]
    }

    static let all: [MQTTPacket] = GoldenPacket.all.filter { $0.version == .v3_1_1 }.map(\.packet)

    /// [MQTT-3.2.0-1]
    @Test(arguments: Self.all.filter { $0.type != .connack })
    func nothingComesBeforeConnack(_ packet: MQTTPacket) {
        var client = Conversation()
        _ = client.open()
        #expect(client.broker(packet) == Self.violation(.unexpected, in: packet.type))
        #expect(client.deadline == nil)
        #expect(client.broker(.accepted()).isEmpty)
    }

    @Test(arguments: Self.all.filter { ![.publish, .puback, .pubrel, .pubcomp, .suback, .pingresp].contains($0.type) })
    func aBrokerKeepsToItsPacketsBeforeSuback(_ packet: MQTTPacket) {
        var client = Conversation()
        _ = client.open()
        _ = client.broker(.accepted())
        #expect(client.broker(packet) == Self.violation(.unexpected, in: packet.type))
    }

    @Test(arguments: Self.all.filter { ![.publish, .puback, .pubrel, .pubcomp, .pingresp].contains($0.type) })
    func aBrokerKeepsToItsPackets(_ packet: MQTTPacket) {
        var client = Conversation.connected()
        #expect(client.broker(packet) == Self.violation(.unexpected, in: packet.type))
    }

    /// The session publishes nothing that a broker could acknowledge. mosquitto's client ignores such packets too.
    @Test(arguments: [MQTTPacket.puback(packetID: 9), .pubcomp(packetID: 9)])
    func anAcknowledgementOfNothingIsIgnored(packet: MQTTPacket) {
        var client = Conversation.connected()
        #expect(client.broker(packet, .publish("a")) == [.message("a")])
    }

    @Test func subackAnswersTheOneQuestion() {
        for (suback, reason) in [
            (MQTTSuback(packetID: 2, grants: [.atLeastOnce]), MQTTError.Reason.unknownPacketID(2)),
            (MQTTSuback(packetID: 1, grants: [.atLeastOnce, nil]), .entryCount(2)),
        ] {
            var client = Conversation()
            _ = client.open()
            _ = client.broker(.accepted())
            #expect(client.broker(.suback(suback)) == Self.violation(reason, in: .suback))
        }
    }

    @Test(
        arguments: [
            ([0x36, 5, 0, 1, 0x74, 0, 1], .qos(3), .publish),
            ([0x32, 5, 0, 1, 0x74, 0, 0], .packetID, .publish),
            ([0x30, 3, 0, 1, 0xFF], .textNotUTF8, .publish),
            ([0x30, 3, 0, 1, 0x2B], .topicName, .publish),
            ([0x30, 1, 0], .tooShort, .publish),
            ([0xD0, 1, 0], .bytesLeftOver(1), .pingresp),
            ([0xD1], .flags(1), .pingresp),
            ([0x62, 2, 0, 0], .packetID, .pubrel),
            ([0xA2, 5, 0, 10, 0, 1, 0x61], .unexpected, .unsubscribe),
            ([0xB0, 2, 0, 10], .unexpected, .unsuback),
            ([0x30, 0xFF, 0xFF, 0xFF, 0xFF], .remainingLengthTooLong, .publish),
            ([0xD0, 0x80, 0x80, 0x80, 0x01], .tooLarge(length: 2_097_152, maximum: 262_144), .pingresp),
            ([0x00], .reservedPacketType(0), nil),
        ] as [([UInt8], MQTTError.Reason, MQTTPacketType?)])
    func malformedBytesEndTheConnection(bytes: [UInt8], reason: MQTTError.Reason, type: MQTTPacketType?) {
        var client = Conversation.connected()
        #expect(client.bytes(bytes) == Self.violation(reason, in: type))
    }

    @Test func messagesInFrontOfAnErrorAreDelivered() {
        var client = Conversation.connected()
        #expect(
            client.bytes(MQTTPacket.publish("a", 1).bytes + [0x00] + MQTTPacket.publish("b", 2).bytes)
                == [
                    .event(.protocolError(MQTTError(.reservedPacketType(0)))), .message("a", 1, ticket: 1),
                    .close(.atOnce),
                ])
        #expect(client.acknowledge(1).isEmpty)
    }

    @Test func whatFollowsTheEndIsNotJudged() {
        var client = Conversation()
        _ = client.open()
        #expect(
            client.bytes(MQTTPacket.connack(MQTTConnack(code: .notAuthorized)).bytes + [0x00])
                == [.event(.connectionRefused(.notAuthorized)), .close(.atOnce)])
        #expect(client.bytes([0x00]).isEmpty)
    }

    @Test func aConfigurationThatMQTTCannotCarryIsReported() {
        var client = Conversation { $0.clientID = "\0" }
        #expect(client.open() == Self.unsendable(.textHoldsNull, in: .connect))
        client = Conversation { $0.topicFilter = "a/#/b" }
        _ = client.open()
        #expect(
            client.broker(.accepted()) == [.event(.sessionMayBeNew)] + Self.unsendable(.topicFilter, in: .subscribe))
    }

    @Test func anOversizedMessageIsCutAndAcknowledged() {
        var client = Conversation.connected { $0.maximumPacketBytes = 10 }
        let message = MQTTSession.InboundMessage(
            topic: "t", payload: Array("01234".utf8), qos: .atLeastOnce, packetID: 9, ticket: 1, truncatedLength: 6)
        #expect(client.broker(.publish("012345", 9), .publish("b")) == [.message(message), .message("b")])
        #expect(client.acknowledge(1) == [.sent(.puback(packetID: 9))])
    }

    @Test func aMessageOnAnotherTopicIsDeliveredAsSuch() {
        var client = Conversation.connected()
        let other = MQTTPublish(topic: "p/t/thing-if", payload: [1], retain: true)
        let message = MQTTSession.InboundMessage(topic: "p/t/thing-if", payload: [1], retain: true)
        #expect(
            client.broker(.publish("a"), .publish(other), .publish(other), .publish("b"))
                == [.message("a"), .message(message), .message(message), .message("b")])
    }

    /// The comparison of topics takes eight bytes at a time, then single bytes.
    @Test(arguments: 1...17)
    func topicsThatDifferInOneByteAreTold(length: Int) {
        let subscribed = String(repeating: "t", count: length)
        var client = Conversation.connected { $0.topicFilter = subscribed }
        for index in 0..<length {
            let topic = String(repeating: "t", count: index) + "u" + String(repeating: "t", count: length - index - 1)
            for topic in [topic, subscribed] {
                let said = client.broker(.publish(MQTTPublish(topic: topic, payload: [])))
                #expect(said == [.message(MQTTSession.InboundMessage(topic: topic, payload: []))])
            }
        }
    }
}
