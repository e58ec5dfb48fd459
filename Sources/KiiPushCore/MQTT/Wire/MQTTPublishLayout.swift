/// Positions in a received PUBLISH (MQTT 3.1.1, 3.3).
package struct MQTTPublishLayout: Sendable, Hashable {
    package var qos: QoS
    package var retain: Bool
    package var duplicate: Bool
    package var packetID: UInt16?
    package var topic: Range<Int>
    /// The payload; only its beginning if the packet was cut.
    package var payload: Range<Int>

    /// Accepts DUP at QoS 0, against [MQTT-3.3.1-2]: some brokers pass it on from the publisher, and closing the
    /// connection would lose messages.
    package init(header: MQTTFixedHeader, body: RawSpan) throws(MQTTError) {
        guard let qos = QoS(rawValue: header.flags >> 1 & 0b11) else {
            throw MQTTError(.qos(3), in: .publish)  // [MQTT-3.3.1-4]
        }
        self.qos = qos
        self.retain = header.flags & 0b0001 != 0
        self.duplicate = header.flags & 0b1000 != 0
        do {
            var position = 0
            self.topic = try body.takeRange(at: &position)
            self.packetID = qos == .atMostOnce ? nil : try body.takePacketID(at: &position)
            self.payload = position..<body.byteCount
        } catch {
            throw error.found(in: .publish)
        }
    }

    package func topic(in body: RawSpan) throws(MQTTError) -> String {
        do throws(MQTTError) {
            let topic = try body.extracting(self.topic).text()
            guard topic.isMQTTTopicName else { throw MQTTError(.topicName) }
            return topic
        } catch {
            throw error.found(in: .publish)
        }
    }
}
