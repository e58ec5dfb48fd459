/// The kind of a packet, as the upper half of its first byte says it (MQTT 3.1.1, table 2.1, which forbids 0 and 15).
package enum MQTTPacketType: UInt8, Sendable, Hashable, CaseIterable {
    // In the order of their values on the wire.
    case connect = 1
    case connack, publish, puback, pubrec, pubrel, pubcomp, subscribe, suback, unsubscribe, unsuback, pingreq, pingresp
    case disconnect

    /// As the specification writes it, such as `CONNACK`.
    package var name: String { String(describing: self).uppercased() }

    /// The lower half of the first byte where table 2.2 fixes it; `nil` for PUBLISH, which uses it.
    package var fixedFlags: UInt8? {
        switch self {
        case .publish: nil
        case .pubrel, .subscribe, .unsubscribe: 0b0010
        default: 0
        }
    }

    func permits(flags: UInt8, version: MQTTVersion) -> Bool {
        guard let expected = self.fixedFlags else { return true }
        switch version {
        case .v3_1_1:
            return flags == expected  // [MQTT-2.2.2-2]
        case .v3_1:
            // MQTT 3.1, 2.1: bits that a type does not use are ignored, and DUP may be set on the three with QoS 1.
            return expected == 0 || flags & 0b0110 == expected
        }
    }
}
