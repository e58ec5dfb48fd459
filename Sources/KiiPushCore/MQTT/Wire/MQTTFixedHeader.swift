/// The first two to five bytes of a packet: its type, its flags, and how many bytes follow (MQTT 3.1.1, 2.2).
package struct MQTTFixedHeader: Sendable, Hashable {
    /// The largest remaining length that four bytes can say: 256 MiB - 1.
    package static let maximumRemainingLength = 268_435_455

    package var type: MQTTPacketType
    /// The lower four bits of the first byte.
    package var flags: UInt8
    package var remainingLength: Int

    package init(type: MQTTPacketType, flags: UInt8, remainingLength: Int) {
        self.type = type
        self.flags = flags
        self.remainingLength = remainingLength
    }

    /// Reads a header and moves `position` behind it; `nil`, and `position` untouched, while bytes are missing. Type and
    /// flags are judged as soon as their byte is there, so that another protocol on the port is recognised at once. A length
    /// in more bytes than it needs is taken: only MQTT 5 forbids it.
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

    /// Appends the header in its shortest form.
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
