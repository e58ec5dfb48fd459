/// The first packet of a client: who it is, and what it wants of the session.
///
/// - Source: MQTT 3.1.1, section 3.1; MQTT 3.1, section 3.1.
package struct MQTTConnect: Sendable, Hashable {
    /// What the broker publishes if the client vanishes.
    package struct Will: Sendable, Hashable {
        package var topic: String
        package var payload: [UInt8]
        package var qos: QoS
        package var retain: Bool

        package init(topic: String, payload: [UInt8], qos: QoS = .atMostOnce, retain: Bool = false) {
            self.topic = topic
            self.payload = payload
            self.qos = qos
            self.retain = retain
        }
    }

    package var version: MQTTVersion
    package var clientID: String
    package var cleanSession: Bool
    /// In seconds; 0 switches it off.
    package var keepAlive: UInt16
    package var will: Will?
    package var username: String?
    /// MQTT permits any bytes here; this package takes text alone, which is what Kii gives.
    package var password: Secret?

    package init(
        version: MQTTVersion = .v3_1_1,
        clientID: String,
        cleanSession: Bool,
        keepAlive: UInt16,
        will: Will? = nil,
        username: String? = nil,
        password: Secret? = nil
    ) {
        self.version = version
        self.clientID = clientID
        self.cleanSession = cleanSession
        self.keepAlive = keepAlive
        self.will = will
        self.username = username
        self.password = password
    }

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let username = Flags(rawValue: 0x80)
        static let password = Flags(rawValue: 0x40)
        static let willRetain = Flags(rawValue: 0x20)
        static let willQoS = Flags(rawValue: 0x18)
        static let will = Flags(rawValue: 0x04)
        static let cleanSession = Flags(rawValue: 0x02)
        static let reserved = Flags(rawValue: 0x01)

        var qosOfWill: UInt8 { (self.rawValue & Self.willQoS.rawValue) >> 3 }
    }

    private var flags: Flags {
        var flags: Flags = []
        if self.cleanSession { flags.insert(.cleanSession) }
        if let will = self.will {
            flags.formUnion([.will, Flags(rawValue: will.qos.rawValue << 3)])
            if will.retain { flags.insert(.willRetain) }
        }
        if self.username != nil { flags.insert(.username) }
        if self.password != nil { flags.insert(.password) }
        return flags
    }

    func encodeBody(into bytes: inout [UInt8]) throws(MQTTError) {
        let flags = self.flags
        // [MQTT-3.1.2-22]
        guard self.password == nil || self.username != nil else { throw MQTTError(.connectFlags(flags.rawValue)) }
        try bytes.appendText(self.version.protocolName)
        bytes.append(self.version.rawValue)
        bytes.append(flags.rawValue)
        bytes.appendNumber(self.keepAlive)
        try bytes.appendText(self.clientID)
        if let will = self.will {
            guard will.topic.isMQTTTopicName else { throw MQTTError(.topicName) }
            try bytes.appendText(will.topic)
            try bytes.appendData(will.payload)
        }
        if let username = self.username { try bytes.appendText(username) }
        if let password = self.password { try bytes.appendData(Array(password.reveal().utf8)) }
    }

    init(decoding body: RawSpan) throws(MQTTError) {
        var position = 0
        let name = try body.takeText(at: &position)
        let level = try body.takeByte(at: &position)
        // [MQTT-3.1.2-1], [MQTT-3.1.2-2]: whoever reads this answers CONNACK 1, or hangs up.
        guard let version = MQTTVersion(rawValue: level), version.protocolName == name else {
            throw MQTTError(.unsupportedProtocol(level: level))
        }
        self.version = version

        let flags = Flags(rawValue: try body.takeByte(at: &position))
        let qosOfWill = QoS(rawValue: flags.qosOfWill)
        guard
            !flags.contains(.reserved) || version == .v3_1,  // [MQTT-3.1.2-3]
            let qosOfWill,  // [MQTT-3.1.2-14]
            flags.contains(.will) || flags.isDisjoint(with: [.willQoS, .willRetain]),  // [MQTT-3.1.2-13], [-15]
            flags.contains(.username) || !flags.contains(.password)  // [MQTT-3.1.2-22]
        else { throw MQTTError(.connectFlags(flags.rawValue)) }
        self.cleanSession = flags.contains(.cleanSession)
        self.keepAlive = try body.takeNumber(at: &position)

        self.clientID = try body.takeText(at: &position)
        if flags.contains(.will) {
            let topic = try body.takeText(at: &position)
            guard topic.isMQTTTopicName else { throw MQTTError(.topicName) }
            let payload = [UInt8](copying: body.extracting(try body.takeRange(at: &position)))
            self.will = Will(topic: topic, payload: payload, qos: qosOfWill, retain: flags.contains(.willRetain))
        } else {
            self.will = nil
        }
        self.username = flags.contains(.username) ? try body.takeText(at: &position) : nil
        self.password = flags.contains(.password) ? Secret(try body.takeText(at: &position)) : nil
        try body.requireEnd(at: position)
    }
}
