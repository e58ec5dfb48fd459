/// A message on its way (MQTT 3.1.1, 3.3).
package struct MQTTPublish: Sendable, Hashable {
    package var topic: String
    package var payload: [UInt8]
    package var qos: QoS
    package var retain: Bool
    /// Set where the sender has sent this before; never at QoS 0.
    package var duplicate: Bool
    /// `nil` at QoS 0, else not 0.
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

    /// The lower half of the first byte.
    var flags: UInt8 {
        var flags = self.qos.rawValue << 1
        if self.retain { flags |= 0b0001 }
        if self.duplicate, self.qos != .atMostOnce { flags |= 0b1000 }  // [MQTT-3.3.1-2]
        return flags
    }

    func encodeBody(into bytes: inout [UInt8]) throws(MQTTError) {
        guard self.topic.isMQTTTopicName else { throw MQTTError(.topicName) }
        // [MQTT-2.3.1-1], [MQTT-2.3.1-5]: a packet identifier where it belongs, and nowhere else.
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
