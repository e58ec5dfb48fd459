/// The broker's answer to CONNECT (MQTT 3.1.1, 3.2; MQTT 3.1, 3.2).
package struct MQTTConnack: Sendable, Hashable {
    /// Whether the broker still holds the session. 3.1 cannot say so: always `false` there.
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

    /// A refusal that claims a session is taken as a refusal, against [MQTT-3.2.2-4]: its code says more than an error
    /// about the flag would.
    init(decoding body: RawSpan, version: MQTTVersion) throws(MQTTError) {
        var position = 0
        let flags = try body.takeByte(at: &position)
        self.code = ConnackCode(rawValue: try body.takeByte(at: &position))
        try body.requireEnd(at: position)
        // 3.2.2.1; MQTT 3.1, 3.2: "reserved values, not used"
        guard version == .v3_1 || flags & 0xFE == 0 else { throw MQTTError(.acknowledgeFlags(flags)) }
        self.sessionPresent = version == .v3_1_1 && flags == 1
    }
}
