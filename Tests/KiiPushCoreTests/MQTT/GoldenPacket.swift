import KiiPushCore
import Testing

/// A packet with the bytes that the specification gives. Sections are of MQTT 3.1.1 unless they say otherwise.
struct GoldenPacket: Sendable, CustomTestStringConvertible {
    var section: String
    var version = MQTTVersion.v3_1_1
    var packet: MQTTPacket
    var bytes: [UInt8]

    var testDescription: String { "\(self.section): \(self.packet.type)" }

    /// Whether the packet ends with a field of its own length, rather than with a list or a payload.
    var hasFixedFields: Bool {
        switch self.packet.type {
        case .publish, .subscribe, .suback, .unsubscribe: false
        case .connect, .connack, .puback, .pubrec, .pubrel, .pubcomp, .unsuback, .pingreq, .pingresp, .disconnect: true
        }
    }

    static let all: [GoldenPacket] = [
        GoldenPacket(
            section: "3.1.2, figure 3.6, without a will",
            packet: .connect(
                MQTTConnect(clientID: "c", cleanSession: true, keepAlive: 10, username: "u", password: "p")),
            bytes: [0x10, 19, 0, 4] + Array("MQTT".utf8) + [0x04, 0xC2, 0, 10]
                + [0, 1, 0x63, 0, 1, 0x75, 0, 1, 0x70]
        ),
        GoldenPacket(
            section: "3.1.3.1: an empty client identifier",
            packet: .connect(MQTTConnect(clientID: "", cleanSession: true, keepAlive: 0)),
            bytes: [0x10, 12, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 0x02, 0, 0, 0, 0]
        ),
        GoldenPacket(
            section: "3.1.2.3: a user name alone, an existing session",
            packet: .connect(MQTTConnect(clientID: "ab", cleanSession: false, keepAlive: 0xFFFF, username: "")),
            bytes: [0x10, 16, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 0x80, 0xFF, 0xFF, 0, 2, 0x61, 0x62, 0, 0]
        ),
        GoldenPacket(
            section: "MQTT 3.1, 3.1",
            version: .v3_1,
            packet: .connect(
                MQTTConnect(
                    version: .v3_1, clientID: "c", cleanSession: true, keepAlive: 300, username: "u", password: "p")
            ),
            bytes: [0x10, 21, 0, 6] + Array("MQIsdp".utf8) + [3, 0xC2, 0x01, 0x2C, 0, 1, 0x63, 0, 1, 0x75, 0, 1, 0x70]
        ),
        GoldenPacket(
            section: "3.2.2.2: a session is present",
            packet: .connack(MQTTConnack(sessionPresent: true, code: .accepted)),
            bytes: [0x20, 2, 1, 0]
        ),
        GoldenPacket(
            section: "3.2.2.3, table 3.1",
            packet: .connack(MQTTConnack(code: .notAuthorized)),
            bytes: [0x20, 2, 0, 5]
        ),
        GoldenPacket(
            section: "3.3.2, figure 3.11",
            packet: .publish(MQTTPublish(topic: "a/b", payload: [0x68, 0x69], qos: .atLeastOnce, packetID: 10)),
            bytes: [0x32, 9, 0, 3, 0x61, 0x2F, 0x62, 0, 10, 0x68, 0x69]
        ),
        GoldenPacket(
            section: "3.3.1: retained, and without a payload",
            packet: .publish(MQTTPublish(topic: "a", payload: [], retain: true)),
            bytes: [0x31, 3, 0, 1, 0x61]
        ),
        GoldenPacket(
            section: "3.3.1: all flags",
            packet: .publish(
                MQTTPublish(
                    topic: "a", payload: [0], qos: .exactlyOnce, retain: true, duplicate: true, packetID: 0xFFFF)),
            bytes: [0x3D, 6, 0, 1, 0x61, 0xFF, 0xFF, 0]
        ),
        GoldenPacket(section: "3.4", packet: .puback(packetID: 0x1234), bytes: [0x40, 2, 0x12, 0x34]),
        GoldenPacket(section: "3.5", packet: .pubrec(packetID: 1), bytes: [0x50, 2, 0, 1]),
        GoldenPacket(section: "3.6", packet: .pubrel(packetID: 0x0100), bytes: [0x62, 2, 1, 0]),
        GoldenPacket(section: "3.7", packet: .pubcomp(packetID: 0xFFFF), bytes: [0x70, 2, 0xFF, 0xFF]),
        GoldenPacket(
            section: "3.8.3, figure 3.23",
            packet: .subscribe(
                MQTTSubscribe(
                    packetID: 10,
                    entries: [
                        MQTTSubscribe.Entry(filter: "a/b", qos: .atLeastOnce),
                        MQTTSubscribe.Entry(filter: "c/d", qos: .exactlyOnce),
                    ])),
            bytes: [0x82, 14, 0, 10, 0, 3, 0x61, 0x2F, 0x62, 1, 0, 3, 0x63, 0x2F, 0x64, 2]
        ),
        GoldenPacket(
            section: "3.9.3, figure 3.27",
            packet: .suback(MQTTSuback(packetID: 10, grants: [.atMostOnce, .exactlyOnce, nil])),
            bytes: [0x90, 5, 0, 10, 0, 2, 0x80]
        ),
        GoldenPacket(section: "3.12", packet: .pingreq, bytes: [0xC0, 0]),
        GoldenPacket(section: "3.13", packet: .pingresp, bytes: [0xD0, 0]),
        GoldenPacket(section: "3.14", packet: .disconnect, bytes: [0xE0, 0]),
    ]
}
