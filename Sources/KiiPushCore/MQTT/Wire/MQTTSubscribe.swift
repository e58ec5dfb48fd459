/// A client's request to be sent the messages of some topics (MQTT 3.1.1, 3.8).
package struct MQTTSubscribe: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        package var filter: String
        /// The most that is asked for; the broker may grant less.
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
            // [MQTT-3-8.3-4] reserves the upper six bits, MQTT 3.1 (3.8) ignores them.
            if version == .v3_1 { options &= 0b11 }
            guard let qos = QoS(rawValue: options) else { throw MQTTError(.qos(options)) }
            self.entries.append(Entry(filter: filter, qos: qos))
        }
        guard !self.entries.isEmpty else { throw MQTTError(.noEntries) }  // [MQTT-3.8.3-3]
    }
}
