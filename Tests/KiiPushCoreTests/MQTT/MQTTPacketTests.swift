import KiiPushCore
import Testing

@Suite struct MQTTPacketTests {
    @Test(arguments: GoldenPacket.all)
    func encodesAsTheSpecificationSays(_ golden: GoldenPacket) throws {
        var bytes: [UInt8] = [0xAA]
        try golden.packet.encode(into: &bytes, version: golden.version)
        #expect(bytes == [0xAA] + golden.bytes)
    }

    @Test(arguments: GoldenPacket.all)
    func decodesAsTheSpecificationSays(_ golden: GoldenPacket) throws {
        var decoder = FrameDecoder(version: golden.version)
        #expect(try decoder.packets(from: golden.bytes) == [golden.packet])
    }

    /// Each field has its own length, so a truncated body is invalid. A body that ends with a list or a payload may
    /// still be valid at some cuts.
    @Test(arguments: GoldenPacket.all)
    func refusesABodyThatEndsEarly(_ golden: GoldenPacket) {
        let body = golden.bytes.dropFirst(2)
        for length in 0..<body.count {
            let bytes = [golden.bytes[0], UInt8(length)] + body.prefix(length)
            var decoder = FrameDecoder(version: golden.version)
            let packets = try? decoder.packets(from: bytes)
            #expect(packets != [golden.packet])
            #expect(packets == nil || !golden.hasFixedFields)
        }
    }

    @Test(arguments: GoldenPacket.all.filter { $0.hasFixedFields })
    func refusesBytesLeftOver(_ golden: GoldenPacket) {
        let bytes = [golden.bytes[0], golden.bytes[1] + 1] + golden.bytes.dropFirst(2) + [0]
        var decoder = FrameDecoder(version: golden.version)
        #expect(throws: MQTTError(.bytesLeftOver(1), in: golden.packet.type)) {
            try decoder.packets(from: bytes)
        }
    }

    /// Section 2.2.2: every first byte whose flags differ from table 2.2.
    @Test(arguments: MQTTPacketType.allCases.filter { $0 != .publish })
    func refusesReservedFlags(_ type: MQTTPacketType) throws {
        for flags in UInt8(0)..<16 where flags != type.fixedFlags {
            var decoder = FrameDecoder()
            #expect(throws: MQTTError(.flags(flags), in: type)) {
                try decoder.packets(from: [type.rawValue << 4 | flags])
            }
        }
    }

    @Test(
        arguments: [
            (0x8A, true), (0x82, true), (0x6A, true), (0xAA, true),  // DUP, for packets with QoS 1
            (0x80, false), (0x84, false), (0x60, false), (0xA6, false),  // another QoS
            (0x2F, true), (0x41, true), (0xDF, true),  // bits without a use in 3.1
        ] as [(UInt8, Bool)])
    func version31TakesDUPAndIgnoresUnusedFlags(first: UInt8, permitted: Bool) {
        var decoder = FrameDecoder(version: .v3_1)
        #expect((try? decoder.packets(from: [first])) == (permitted ? [] : nil))
    }

    @Test(
        arguments: [
            ("2.3.1: packet identifier 0", [0x40, 2, 0, 0], .packetID, .puback),
            ("2.3.1", [0x50, 2, 0, 0], .packetID, .pubrec),
            ("2.3.1", [0x62, 2, 0, 0], .packetID, .pubrel),
            ("2.3.1", [0x70, 2, 0, 0], .packetID, .pubcomp),
            ("2.3.1", [0x82, 6, 0, 0, 0, 1, 0x61, 0], .packetID, .subscribe),
            ("2.3.1", [0x90, 3, 0, 0, 0], .packetID, .suback),
            ("2.3.1", [0x32, 5, 0, 1, 0x61, 0, 0], .packetID, .publish),
            ("3.3.1.2: QoS 3", [0x36, 5, 0, 1, 0x61, 0, 1], .qos(3), .publish),
            ("3.3.2.1: an empty topic", [0x30, 2, 0, 0], .topicName, .publish),
            ("3.3.2.1: a wildcard", [0x30, 3, 0, 1, 0x23], .topicName, .publish),
            ("3.3.2.1: a wildcard", [0x30, 5, 0, 3, 0x61, 0x2F, 0x2B], .topicName, .publish),
            ("3.3.2: no room for the topic", [0x30, 3, 0, 2, 0x61], .tooShort, .publish),
            ("3.3.2: no room for the packet identifier", [0x32, 4, 0, 1, 0x61, 0], .tooShort, .publish),
            ("1.5.3: U+0000", [0x30, 3, 0, 1, 0x00], .textHoldsNull, .publish),
            ("1.5.3: a lone continuation byte", [0x30, 3, 0, 1, 0x80], .textNotUTF8, .publish),
            ("1.5.3: a surrogate", [0x30, 5, 0, 3, 0xED, 0xA0, 0x80], .textNotUTF8, .publish),
            ("1.5.3: more bytes than needed", [0x30, 4, 0, 2, 0xC1, 0x81], .textNotUTF8, .publish),
            ("1.5.3: above U+10FFFF", [0x30, 6, 0, 4, 0xF4, 0x90, 0x80, 0x80], .textNotUTF8, .publish),
            ("1.5.3: a character cut short", [0x30, 4, 0, 2, 0xE3, 0x81], .textNotUTF8, .publish),
            ("3.2.2.1: reserved flags", [0x20, 2, 2, 0], .acknowledgeFlags(2), .connack),
            ("3.8.3: no filter", [0x82, 2, 0, 1], .noEntries, .subscribe),
            ("3.8.3: QoS 3", [0x82, 6, 0, 1, 0, 1, 0x61, 3], .qos(3), .subscribe),
            ("3.8.3: reserved bits", [0x82, 6, 0, 1, 0, 1, 0x61, 4], .qos(4), .subscribe),
            ("3.8.3: no room for the QoS", [0x82, 5, 0, 1, 0, 1, 0x61], .tooShort, .subscribe),
            ("4.7.1: a misplaced wildcard", [0x82, 7, 0, 1, 0, 2, 0x61, 0x23, 0], .topicFilter, .subscribe),
            ("3.9.3: a return code that does not exist", [0x90, 3, 0, 1, 3], .returnCode(3), .suback),
            ("3.9.3", [0x90, 3, 0, 1, 0x81], .returnCode(0x81), .suback),
            ("3.9.3: no return code", [0x90, 2, 0, 1], .noEntries, .suback),
            ("3.10: nobody unsubscribes", [0xA2, 5, 0, 10, 0, 1, 0x61], .unexpected, .unsubscribe),
            ("3.11", [0xB0, 2, 0, 10], .unexpected, .unsuback),
        ] as [(String, [UInt8], MQTTError.Reason, MQTTPacketType)])
    func refusesMalformedPackets(
        section: String, bytes: [UInt8], reason: MQTTError.Reason, type: MQTTPacketType
    ) {
        var decoder = FrameDecoder()
        #expect(throws: MQTTError(reason, in: type), "\(section)") { try decoder.packets(from: bytes) }
    }

    @Test(
        arguments: [
            ("3.1.2.3: the reserved flag", 0x01, .connectFlags(0x01)),
            ("3.1.2.6: a will of QoS 3", 0x1C, .connectFlags(0x1C)),
            ("3.1.2.6: the QoS of no will", 0x08, .connectFlags(0x08)),
            ("3.1.2.7: no will, but retained", 0x20, .connectFlags(0x20)),
            ("3.1.2.9: a password without a user name", 0x40, .connectFlags(0x40)),
            ("3.1.2.5: a will, which nobody here has", 0x04, .connectFlags(0x04)),
            ("3.1.3: a user name that is not there", 0x80, .tooShort),
        ] as [(String, UInt8, MQTTError.Reason)])
    func refusesContradictingConnectFlags(section: String, flags: UInt8, reason: MQTTError.Reason) {
        let bytes: [UInt8] = [0x10, 13, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, flags, 0, 0, 0, 1, 0x63]
        var decoder = FrameDecoder()
        #expect(throws: MQTTError(reason, in: .connect), "\(section)") { try decoder.packets(from: bytes) }
    }

    @Test(arguments: [("MQTT", 3), ("MQIsdp", 4), ("MQTT", 5), ("mqtt", 4), ("MQTT", 0x84)] as [(String, UInt8)])
    func refusesOtherProtocols(name: String, level: UInt8) {
        let variable = [0, UInt8(name.utf8.count)] + Array(name.utf8) + [level, 2, 0, 0, 0, 1, 0x63]
        var decoder = FrameDecoder()
        #expect(throws: MQTTError(.unsupportedProtocol(level: level), in: .connect)) {
            try decoder.packets(from: [0x10, UInt8(variable.count)] + variable)
        }
    }

    /// Section 1.5.3.1: "AMA" with U+2A6D4 in it, and a byte order mark, which the decoder keeps.
    @Test func keepsEveryCharacterOfAText() throws {
        let bytes: [UInt8] = [0x30, 10, 0, 8, 0x41, 0xF0, 0xAA, 0x9B, 0x94, 0xEF, 0xBB, 0xBF]
        var decoder = FrameDecoder()
        #expect(try decoder.packets(from: bytes) == [.publish(MQTTPublish(topic: "A\u{2A6D4}\u{FEFF}", payload: []))])
    }

    @Test func takesDUPAtQoS0() throws {
        var decoder = FrameDecoder()
        let packets = try decoder.packets(from: [0x38, 3, 0, 1, 0x61])
        #expect(packets == [.publish(MQTTPublish(topic: "a", payload: [], duplicate: true))])
    }

    @Test func takesARefusalThatClaimsASession() throws {
        var decoder = FrameDecoder()
        let connack = MQTTConnack(sessionPresent: true, code: .badUserNameOrPassword)
        #expect(try decoder.packets(from: [0x20, 2, 1, 4]) == [.connack(connack)])
    }

    @Test func version31HasNoSessionPresentFlag() throws {
        var decoder = FrameDecoder(version: .v3_1)
        #expect(try decoder.packets(from: [0x20, 2, 0xFF, 0]) == [.connack(MQTTConnack(code: .accepted))])
        var bytes: [UInt8] = []
        try MQTTPacket.connack(MQTTConnack(sessionPresent: true, code: .accepted)).encode(into: &bytes, version: .v3_1)
        #expect(bytes == [0x20, 2, 0, 0])
    }

    @Test(
        arguments: [
            (.puback(packetID: 0), .packetID),
            (.publish(MQTTPublish(topic: "a", payload: [], qos: .atLeastOnce)), .packetID),
            (.publish(MQTTPublish(topic: "a", payload: [], qos: .atLeastOnce, packetID: 0)), .packetID),
            (.publish(MQTTPublish(topic: "a", payload: [], packetID: 1)), .packetID),
            (.publish(MQTTPublish(topic: "", payload: [])), .topicName),
            (.publish(MQTTPublish(topic: "a/+", payload: [])), .topicName),
            (.publish(MQTTPublish(topic: "a\0", payload: [])), .textHoldsNull),
            (.publish(MQTTPublish(topic: String(repeating: "a", count: 65_536), payload: [])), .textTooLong(65_536)),
            (.subscribe(MQTTSubscribe(packetID: 1, entries: [])), .noEntries),
            (.subscribe(MQTTSubscribe(packetID: 1, entries: [.init(filter: "a/#/b", qos: .atMostOnce)])), .topicFilter),
            (.suback(MQTTSuback(packetID: 1, grants: [])), .noEntries),
            (.subscribe(MQTTSubscribe(packetID: 1, entries: [.init(filter: "+a", qos: .atMostOnce)])), .topicFilter),
            (
                .connect(MQTTConnect(clientID: "c", cleanSession: true, keepAlive: 0, password: "p")),
                .connectFlags(0x42)
            ),
            (.connect(MQTTConnect(clientID: "c\0", cleanSession: true, keepAlive: 0)), .textHoldsNull),
        ] as [(MQTTPacket, MQTTError.Reason)])
    func refusesToEncodeWhatMQTTCannotCarry(packet: MQTTPacket, reason: MQTTError.Reason) {
        var bytes: [UInt8] = [0xAA]
        #expect(throws: MQTTError(reason, in: packet.type)) { try packet.encode(into: &bytes) }
        #expect(bytes == [0xAA])
    }

    @Test(arguments: [
        ("a", true), ("/", true), ("a/b", true), ("+", true), ("#", true), ("a/+/b", true), ("a/#", true), ("/+", true),
        ("", false), ("a+", false), ("a#", false), ("#/a", false), ("a/#/b", false), ("a/+b", false), ("##", false),
    ])
    func judgesTopicFilters(filter: String, isValid: Bool) {
        #expect(filter.isMQTTTopicFilter == isValid)
    }

    @Test func errorsNameThePacketAndWhatToDo() {
        #expect(
            MQTTError(.bytesLeftOver(3), in: .suback).description
                == "malformed MQTT SUBACK: 3 bytes after its last field; check that the port is the broker's, "
                + "and speaks MQTT 3.1.1 or 3.1 without WebSocket")
        #expect(MQTTError(.bytesLeftOver(1)).description.contains(": 1 byte after its last field;"))
    }
}

@Suite struct ConnackCodeTests {
    @Test func credentialsAreRefusedByFourAndFive() {
        #expect((UInt8.min...UInt8.max).filter { ConnackCode(rawValue: $0).refusesCredentials } == [4, 5])
    }
}
