/// A packet of MQTT 3.1.1 or 3.1, from a client or a broker. UNSUBSCRIBE and UNSUBACK are not supported.
package enum MQTTPacket: Sendable, Hashable {
    case connect(MQTTConnect)
    case connack(MQTTConnack)
    case publish(MQTTPublish)
    case puback(packetID: UInt16)
    case pubrec(packetID: UInt16)
    case pubrel(packetID: UInt16)
    case pubcomp(packetID: UInt16)
    case subscribe(MQTTSubscribe)
    case suback(MQTTSuback)
    case pingreq, pingresp, disconnect

    package var type: MQTTPacketType {
        switch self {
        case .connect: .connect
        case .connack: .connack
        case .publish: .publish
        case .puback: .puback
        case .pubrec: .pubrec
        case .pubrel: .pubrel
        case .pubcomp: .pubcomp
        case .subscribe: .subscribe
        case .suback: .suback
        case .pingreq: .pingreq
        case .pingresp: .pingresp
        case .disconnect: .disconnect
        }
    }

    /// - Throws: ``MQTTError`` if a value does not fit into MQTT; `bytes` then stays unchanged.
    package func encode(into bytes: inout [UInt8], version: MQTTVersion = .v3_1_1) throws(MQTTError) {
        let start = bytes.count
        do {
            var flags = self.type.fixedFlags ?? 0
            var body: [UInt8] = []
            switch self {
            case .connect(let connect): try connect.encodeBody(into: &body)
            case .connack(let connack): connack.encodeBody(into: &body, version: version)
            case .publish(let publish):
                flags = publish.flags
                try publish.encodeBody(into: &body)
            case .puback(let packetID), .pubrec(let packetID), .pubrel(let packetID), .pubcomp(let packetID):
                try body.appendPacketID(packetID)
            case .subscribe(let subscribe): try subscribe.encodeBody(into: &body)
            case .suback(let suback): try suback.encodeBody(into: &body)
            case .pingreq, .pingresp, .disconnect: break
            }
            try MQTTFixedHeader(type: self.type, flags: flags, remainingLength: body.count).encode(into: &bytes)
            bytes.append(contentsOf: body)
        } catch {
            bytes.removeSubrange(start...)
            throw error.found(in: self.type)
        }
    }

    /// Decodes a packet. Throws if ``FrameDecoder`` has cut the body.
    package init(header: MQTTFixedHeader, body: RawSpan, version: MQTTVersion = .v3_1_1) throws(MQTTError) {
        guard body.byteCount == header.remainingLength else {
            throw MQTTError(.tooLarge(length: header.remainingLength, maximum: body.byteCount), in: header.type)
        }
        do throws(MQTTError) {
            switch header.type {
            case .connect: self = .connect(try MQTTConnect(decoding: body))
            case .connack: self = .connack(try MQTTConnack(decoding: body, version: version))
            case .publish: self = .publish(try MQTTPublish(decoding: body, header: header))
            case .puback: self = .puback(packetID: try body.onlyPacketID())
            case .pubrec: self = .pubrec(packetID: try body.onlyPacketID())
            case .pubrel: self = .pubrel(packetID: try body.onlyPacketID())
            case .pubcomp: self = .pubcomp(packetID: try body.onlyPacketID())
            case .subscribe: self = .subscribe(try MQTTSubscribe(decoding: body, version: version))
            case .suback: self = .suback(try MQTTSuback(decoding: body))
            case .unsubscribe, .unsuback: throw MQTTError(.unexpected)
            case .pingreq:
                try body.requireEnd(at: 0)
                self = .pingreq
            case .pingresp:
                try body.requireEnd(at: 0)
                self = .pingresp
            case .disconnect:
                try body.requireEnd(at: 0)
                self = .disconnect
            }
        } catch {
            throw error.found(in: header.type)
        }
    }
}

extension FrameDecoder {
    package mutating func packets(from bytes: [UInt8]) throws(MQTTError) -> [MQTTPacket] {
        let version = self.version
        var packets: [MQTTPacket] = []
        try self.decode(bytes.span.bytes) { (header, body) throws(MQTTError) in
            packets.append(try MQTTPacket(header: header, body: body, version: version))
        }
        return packets
    }
}

/// A client's first packet (MQTT 3.1.1, 3.1; MQTT 3.1, 3.1). Wills are not supported.
package struct MQTTConnect: Sendable, Hashable {
    package var version: MQTTVersion
    package var clientID: String
    package var cleanSession: Bool
    /// In seconds; 0: no keep-alive.
    package var keepAlive: UInt16
    package var username: String?
    /// MQTT permits any bytes. This package supports only text, since Kii's passwords are text.
    package var password: Secret?

    package init(
        version: MQTTVersion = .v3_1_1, clientID: String, cleanSession: Bool, keepAlive: UInt16,
        username: String? = nil, password: Secret? = nil
    ) {
        self.version = version
        self.clientID = clientID
        self.cleanSession = cleanSession
        self.keepAlive = keepAlive
        self.username = username
        self.password = password
    }

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let username = Flags(rawValue: 0x80)
        static let password = Flags(rawValue: 0x40)
        static let cleanSession = Flags(rawValue: 0x02)
        static let reserved = Flags(rawValue: 0x01)
    }

    func encodeBody(into bytes: inout [UInt8]) throws(MQTTError) {
        var flags: Flags = []
        if self.cleanSession { flags.insert(.cleanSession) }
        if self.username != nil { flags.insert(.username) }
        if self.password != nil { flags.insert(.password) }
        // A password requires a user name ([MQTT-3.1.2-22]).
        guard self.password == nil || self.username != nil else { throw MQTTError(.connectFlags(flags.rawValue)) }
        try bytes.appendText(self.version.protocolName)
        bytes.append(self.version.rawValue)
        bytes.append(flags.rawValue)
        bytes.appendNumber(self.keepAlive)
        try bytes.appendText(self.clientID)
        if let username { try bytes.appendText(username) }
        if let password { try bytes.appendData(Array(password.reveal().utf8)) }
    }

    init(decoding body: RawSpan) throws(MQTTError) {
        var position = 0
        let name = try body.takeText(at: &position)
        let level = try body.takeByte(at: &position)
        // [MQTT-3.1.2-1], [MQTT-3.1.2-2]: on this error the broker answers CONNACK 1, or closes the connection.
        guard let version = MQTTVersion(rawValue: level), version.protocolName == name else {
            throw MQTTError(.unsupportedProtocol(level: level))
        }
        self.version = version

        let flags = Flags(rawValue: try body.takeByte(at: &position))
        guard flags.isSubset(of: [.username, .password, .cleanSession, .reserved]),
            !flags.contains(.reserved) || version == .v3_1,  // [MQTT-3.1.2-3]
            flags.contains(.username) || !flags.contains(.password)  // [MQTT-3.1.2-22]
        else { throw MQTTError(.connectFlags(flags.rawValue)) }
        self.cleanSession = flags.contains(.cleanSession)
        self.keepAlive = try body.takeNumber(at: &position)
        self.clientID = try body.takeText(at: &position)
        self.username = flags.contains(.username) ? try body.takeText(at: &position) : nil
        self.password = flags.contains(.password) ? Secret(try body.takeText(at: &position)) : nil
        try body.requireEnd(at: position)
    }
}

/// The broker's answer to CONNECT (MQTT 3.1.1, 3.2; MQTT 3.1, 3.2).
package struct MQTTConnack: Sendable, Hashable {
    /// Whether the broker has kept the session. Always `false` in MQTT 3.1, which does not report it.
    package var sessionPresent: Bool
    package var code: ConnackCode

    package init(sessionPresent: Bool = false, code: ConnackCode) {
        self.sessionPresent = sessionPresent
        self.code = code
    }

    func encodeBody(into bytes: inout [UInt8], version: MQTTVersion) {
        bytes.append(version == .v3_1_1 && self.sessionPresent ? 1 : 0)
        bytes.append(self.code.rawValue)
    }

    /// Accepts a refusal with the session flag, against [MQTT-3.2.2-4]: the return code says more than an error about
    /// the flag.
    init(decoding body: RawSpan, version: MQTTVersion) throws(MQTTError) {
        var position = 0
        let flags = try body.takeByte(at: &position)
        self.code = ConnackCode(rawValue: try body.takeByte(at: &position))
        try body.requireEnd(at: position)
        // Bits 7 to 1 must be 0 (MQTT 3.1.1, 3.2.2.1). MQTT 3.1 (3.2) ignores the byte.
        guard version == .v3_1 || flags & 0xFE == 0 else { throw MQTTError(.acknowledgeFlags(flags)) }
        self.sessionPresent = version == .v3_1_1 && flags == 1
    }
}

package struct ConnackCode: Sendable, Hashable, CustomStringConvertible {
    package static let accepted = Self(rawValue: 0)
    package static let unacceptableProtocolVersion = Self(rawValue: 1)
    package static let serverUnavailable = Self(rawValue: 3)
    package static let badUserNameOrPassword = Self(rawValue: 4)
    package static let notAuthorized = Self(rawValue: 5)

    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whether the caller should fetch new credentials before the next attempt.
    package var refusesCredentials: Bool { self == .badUserNameOrPassword || self == .notAuthorized }

    package var description: String {
        switch self.rawValue {
        case 0: "the broker accepted the connection"
        case 1: "the broker does not speak this version of MQTT (CONNACK 1); connect with the other one"
        case 2:
            "the broker rejects the client identifier (CONNACK 2); fetch the endpoint again and use its topic as identifier"
        case 3: "the broker is not available (CONNACK 3); try again later"
        case 4: "the broker refuses user name or password (CONNACK 4); fetch the endpoint again"
        case 5: "the broker does not authorize this client (CONNACK 5); fetch the endpoint again"
        default: "the broker refuses with an unknown code (CONNACK \(self.rawValue)); see the broker's log"
        }
    }
}

/// A client's request for the messages of some topics (MQTT 3.1.1, 3.8).
package struct MQTTSubscribe: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        package var filter: String
        /// The maximum QoS; the broker may grant a lower one.
        package var qos: QoS

        package init(filter: String, qos: QoS) {
            self.filter = filter
            self.qos = qos
        }
    }

    package var packetID: UInt16
    package var entries: [Entry]

    package init(packetID: UInt16, entries: [Entry]) {
        self.packetID = packetID
        self.entries = entries
    }

    func encodeBody(into bytes: inout [UInt8]) throws(MQTTError) {
        try bytes.appendPacketID(self.packetID)
        guard !self.entries.isEmpty else { throw MQTTError(.noEntries) }
        for entry in self.entries {
            guard entry.filter.isMQTTTopicFilter else { throw MQTTError(.topicFilter) }
            try bytes.appendText(entry.filter)
            bytes.append(entry.qos.rawValue)
        }
    }

    init(decoding body: RawSpan, version: MQTTVersion) throws(MQTTError) {
        var position = 0
        self.packetID = try body.takePacketID(at: &position)
        self.entries = []
        while position < body.byteCount {
            let filter = try body.takeText(at: &position)
            guard filter.isMQTTTopicFilter else { throw MQTTError(.topicFilter) }
            var options = try body.takeByte(at: &position)
            // [MQTT-3-8.3-4] reserves the upper six bits. MQTT 3.1 (3.8) ignores them.
            if version == .v3_1 { options &= 0b11 }
            guard let qos = QoS(rawValue: options) else { throw MQTTError(.qos(options)) }
            self.entries.append(Entry(filter: filter, qos: qos))
        }
        guard !self.entries.isEmpty else { throw MQTTError(.noEntries) }  // [MQTT-3.8.3-3]
    }
}

/// The broker's answers to SUBSCRIBE, one for each entry (MQTT 3.1.1, 3.9).
package struct MQTTSuback: Sendable, Hashable {
    private static let failure: UInt8 = 0x80

    package var packetID: UInt16
    package var grants: [QoS?]

    package init(packetID: UInt16, grants: [QoS?]) {
        self.packetID = packetID
        self.grants = grants
    }

    func encodeBody(into bytes: inout [UInt8]) throws(MQTTError) {
        try bytes.appendPacketID(self.packetID)
        guard !self.grants.isEmpty else { throw MQTTError(.noEntries) }
        for grant in self.grants { bytes.append(grant?.rawValue ?? Self.failure) }
    }

    /// Accepts a refusal in both versions: MQTT 3.1 does not define it, but brokers send it.
    init(decoding body: RawSpan) throws(MQTTError) {
        var position = 0
        self.packetID = try body.takePacketID(at: &position)
        self.grants = []
        while position < body.byteCount {
            let code = try body.takeByte(at: &position)
            let grant = QoS(rawValue: code)
            guard grant != nil || code == Self.failure else { throw MQTTError(.returnCode(code)) }  // [MQTT-3.9.3-2]
            self.grants.append(grant)
        }
        guard !self.grants.isEmpty else { throw MQTTError(.noEntries) }
    }
}

/// A message (MQTT 3.1.1, 3.3).
package struct MQTTPublish: Sendable, Hashable {
    package var topic: String
    package var payload: [UInt8]
    package var qos: QoS
    package var retain: Bool
    /// DUP: the sender has sent this packet before. Not sent at QoS 0.
    package var duplicate: Bool
    /// `nil` at QoS 0, otherwise not 0.
    package var packetID: UInt16?

    package init(
        topic: String, payload: [UInt8], qos: QoS = .atMostOnce, retain: Bool = false, duplicate: Bool = false,
        packetID: UInt16? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.duplicate = duplicate
        self.packetID = packetID
    }

    var flags: UInt8 {
        var flags = self.qos.rawValue << 1
        if self.retain { flags |= 0b0001 }
        if self.duplicate, self.qos != .atMostOnce { flags |= 0b1000 }  // [MQTT-3.3.1-2]
        return flags
    }

    func encodeBody(into bytes: inout [UInt8]) throws(MQTTError) {
        guard self.topic.isMQTTTopicName else { throw MQTTError(.topicName) }
        // QoS 1 and 2 need a packet identifier, QoS 0 must have none ([MQTT-2.3.1-1], [MQTT-2.3.1-5]).
        guard (self.qos == .atMostOnce) == (self.packetID == nil), self.packetID != 0 else {
            throw MQTTError(.packetID)
        }
        bytes.reserveCapacity(4 + self.topic.utf8.count + self.payload.count)
        try bytes.appendText(self.topic)
        if let packetID = self.packetID { bytes.appendNumber(packetID) }
        bytes.append(contentsOf: self.payload)
    }

    init(decoding body: RawSpan, header: MQTTFixedHeader) throws(MQTTError) {
        let layout = try MQTTPublishLayout(header: header, body: body)
        self.topic = try layout.topic(in: body)
        self.payload = [UInt8](copying: body.extracting(layout.payload))
        self.qos = layout.qos
        self.retain = layout.retain
        self.duplicate = layout.duplicate
        self.packetID = layout.packetID
    }
}
