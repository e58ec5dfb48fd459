/// The kind of a packet, as the upper half of its first byte says it.
///
/// - Source: MQTT 3.1.1, table 2.1. Values 0 and 15 are forbidden there.
package enum MQTTPacketType: UInt8, Sendable, Hashable, CaseIterable {
    case connect = 1
    case connack = 2
    case publish = 3
    case puback = 4
    case pubrec = 5
    case pubrel = 6
    case pubcomp = 7
    case subscribe = 8
    case suback = 9
    case unsubscribe = 10
    case unsuback = 11
    case pingreq = 12
    case pingresp = 13
    case disconnect = 14

    /// As the specification writes it, such as `CONNACK`.
    package var name: String { String(describing: self).uppercased() }

    /// The lower half of the first byte where the specification fixes it; `nil` for PUBLISH, which uses it.
    ///
    /// - Source: MQTT 3.1.1, table 2.2.
    package var fixedFlags: UInt8? {
        switch self {
        case .publish: nil
        case .pubrel, .subscribe, .unsubscribe: 0b0010
        case .connect, .connack, .puback, .pubrec, .pubcomp, .suback, .unsuback, .pingreq, .pingresp, .disconnect: 0
        }
    }

    /// Whether `flags` may accompany this type.
    package func permits(flags: UInt8, version: MQTTVersion) -> Bool {
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
