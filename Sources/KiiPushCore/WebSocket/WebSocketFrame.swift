/// The ends of a WebSocket. Only a client masks its frames (RFC 6455 section 5.1).
package enum WebSocketRole: Sendable {
    case client, server

    var peer: String { self == .client ? "the server" : "the client" }
}

/// RFC 6455 section 5.2.
package enum WebSocketOpcode: UInt8, Sendable, Hashable {
    case continuation = 0
    case text
    case binary
    case close = 8
    case ping
    case pong

    var isControl: Bool { self.rawValue >= WebSocketOpcode.close.rawValue }
}

package enum WebSocketFrame {
    /// RFC 6455 section 5.5.
    package static let maximumControlBytes = 125

    /// - Parameter mask: a client's four random bytes, the first in the lowest byte; `nil` from a server.
    package static func append(
        _ opcode: WebSocketOpcode, _ payload: [UInt8], mask: UInt32?, to bytes: inout [UInt8]
    ) {
        self.appendHeader(opcode, length: payload.count, mask: mask, to: &bytes)
        let start = bytes.count
        bytes.append(contentsOf: payload)
        guard let mask else { return }
        bytes.withUnsafeMutableBytes { bytes in
            _ = self.mask(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), with: mask)
        }
    }

    /// The caller appends the payload, masked if `mask` is not `nil`.
    package static func appendHeader(
        _ opcode: WebSocketOpcode, length: Int, mask: UInt32?, to bytes: inout [UInt8]
    ) {
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        bytes.append(0x80 | opcode.rawValue)
        switch length {
        case ..<126: bytes.append(maskBit | UInt8(length))
        case ..<65_536:
            bytes.append(maskBit | 126)
            for shift in [8, 0] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
        default:
            bytes.append(maskBit | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: length >> shift))
            }
        }
        guard let mask else { return }
        for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: mask >> shift)) }
    }

    /// Masks or unmasks `bytes` in place (RFC 6455 section 5.3), and returns the key for the bytes that follow.
    package static func mask(_ bytes: UnsafeMutableRawBufferPointer, with key: UInt32) -> UInt32 {
        let wide = (UInt64(key) | UInt64(key) << 32).littleEndian
        var position = 0
        while position + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            bytes.storeBytes(of: word ^ wide, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        while position < bytes.count {
            bytes[position] ^= UInt8(truncatingIfNeeded: key >> UInt32(position % 4 * 8))
            position += 1
        }
        let turn = UInt32(bytes.count % 4 * 8)
        return turn == 0 ? key : key >> turn | key << (32 - turn)
    }

    /// RFC 6455 section 5.5.1. Drops a reason that is too long.
    package static func closePayload(_ code: UInt16, reason: String = "") -> [UInt8] {
        let number = [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)]
        return number.count + reason.utf8.count > self.maximumControlBytes ? number : number + reason.utf8
    }
}
