/// The first packet of a client: who it is, and what it wants of the session (MQTT 3.1.1, 3.1; MQTT 3.1, 3.1). No client
/// here has a will.
package struct MQTTConnect: Sendable, Hashable {
    package var version: MQTTVersion
    package var clientID: String
    package var cleanSession: Bool
    /// In seconds; 0 switches it off.
    package var keepAlive: UInt16
    package var username: String?
    /// MQTT permits any bytes here; this package takes text alone, which is what Kii gives.
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
        // [MQTT-3.1.2-22]
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
        // [MQTT-3.1.2-1], [MQTT-3.1.2-2]: whoever reads this answers CONNACK 1, or hangs up.
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
