/// The broker's answers to SUBSCRIBE, one for each entry (MQTT 3.1.1, 3.9).
package struct MQTTSuback: Sendable, Hashable {
    private static let failure: UInt8 = 0x80

    package var packetID: UInt16
    /// What was granted; `nil` where the broker refused.
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

    /// A refusal is read in 3.1 too, which has no word for it: brokers send it all the same.
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
