/// The first two to five bytes of a packet: type, flags and remaining length (MQTT 3.1.1, 2.2).
package struct MQTTFixedHeader: Sendable, Hashable {
    /// The largest length in four bytes: 256 MiB - 1.
    package static let maximumRemainingLength = 268_435_455

    package var type: MQTTPacketType
    package var flags: UInt8
    package var remainingLength: Int

    /// Reads a header and moves `position` behind it. Returns `nil`, with `position` unchanged, if bytes are missing.
    /// Checks the first byte as soon as it arrives. Accepts a length in more bytes than needed: only MQTT 5 forbids
    /// that.
    package static func parse(
        _ bytes: RawSpan, at position: inout Int, version: MQTTVersion
    ) throws(MQTTError) -> MQTTFixedHeader? {
        guard position < bytes.byteCount else { return nil }
        let first = bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self)
        guard let type = MQTTPacketType(rawValue: first >> 4) else {
            throw MQTTError(.reservedPacketType(first >> 4))
        }
        let flags = first & 0x0F
        guard type.permits(flags: flags, version: version) else { throw MQTTError(.flags(flags), in: type) }

        var length = 0
        for index in 0..<4 {
            guard position + 1 + index < bytes.byteCount else { return nil }
            let byte = bytes.unsafeLoad(fromByteOffset: position + 1 + index, as: UInt8.self)
            length |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 {
                position += index + 2
                return MQTTFixedHeader(type: type, flags: flags, remainingLength: length)
            }
        }
        throw MQTTError(.remainingLengthTooLong, in: type)
    }

    package func encode(into bytes: inout [UInt8]) throws(MQTTError) {
        guard self.remainingLength <= Self.maximumRemainingLength else {
            throw MQTTError(
                .tooLarge(length: self.remainingLength, maximum: Self.maximumRemainingLength), in: self.type)
        }
        bytes.append(self.type.rawValue << 4 | self.flags)
        var rest = self.remainingLength
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// The packet type: the upper half of the first byte (MQTT 3.1.1, table 2.1, which forbids 0 and 15).
package enum MQTTPacketType: UInt8, Sendable, Hashable, CaseIterable {
    // The order gives the values on the wire.
    case connect = 1
    case connack, publish, puback, pubrec, pubrel, pubcomp, subscribe, suback, unsubscribe, unsuback, pingreq, pingresp
    case disconnect

    package var name: String { String(describing: self).uppercased() }

    /// The lower half of the first byte (table 2.2); `nil` for PUBLISH, whose flags vary.
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
            // MQTT 3.1, 2.1: receivers ignore unused bits, and DUP may be set on PUBREL, SUBSCRIBE and UNSUBSCRIBE.
            return expected == 0 || flags & 0b0110 == expected
        }
    }
}

/// Kii's documents name 3.1, and its brokers accept both. The raw value is the protocol level of CONNECT (MQTT 3.1.1,
/// 3.1.2.1 and 3.1.2.2; MQTT 3.1, 3.1).
// swift-format-ignore: AlwaysUseLowerCamelCase
package enum MQTTVersion: UInt8, Sendable, Hashable {
    case v3_1 = 3
    case v3_1_1 = 4

    package var protocolName: String { self == .v3_1 ? "MQIsdp" : "MQTT" }
}

/// A quality of service (MQTT 3.1.1, 4.3).
package enum QoS: UInt8, Sendable, Hashable, Comparable {
    // The order gives the values on the wire.
    case atMostOnce, atLeastOnce, exactlyOnce

    package static func < (left: QoS, right: QoS) -> Bool { left.rawValue < right.rawValue }
}
