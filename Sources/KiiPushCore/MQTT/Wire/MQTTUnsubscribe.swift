/// A client's request to be sent the messages of some topics no longer.
///
/// - Source: MQTT 3.1.1, section 3.10.
package struct MQTTUnsubscribe: Sendable, Hashable {
    package var packetID: UInt16
    package var filters: [String]

    package init(packetID: UInt16, filters: [String]) {
        self.packetID = packetID
        self.filters = filters
    }

    func encodeBody(into bytes: inout [UInt8]) throws(MQTTError) {
        guard self.packetID != 0 else { throw MQTTError(.packetID) }
        guard !self.filters.isEmpty else { throw MQTTError(.noEntries) }
        bytes.appendNumber(self.packetID)
        for filter in self.filters {
            guard filter.isMQTTTopicFilter else { throw MQTTError(.topicFilter) }
            try bytes.appendText(filter)
        }
    }

    init(decoding body: RawSpan) throws(MQTTError) {
        var position = 0
        self.packetID = try body.takePacketID(at: &position)
        self.filters = []
        while position < body.byteCount {
            let filter = try body.takeText(at: &position)
            guard filter.isMQTTTopicFilter else { throw MQTTError(.topicFilter) }
            self.filters.append(filter)
        }
        guard !self.filters.isEmpty else { throw MQTTError(.noEntries) }  // [MQTT-3.10.3-2]
    }
}
