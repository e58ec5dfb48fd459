/// Decodes WebSocket frames from a stream of bytes (RFC 6455 section 5). Returns only the payload, since MQTT ignores
/// the borders of frames and messages (MQTT 3.1.1 section 6).
package struct WebSocketDecoder: Sendable {
    package struct End: Sendable, Hashable {
        /// Code `connectionLost` if the peer closed the WebSocket; otherwise `webSocketFailed`.
        package var error: TransportError
        /// The code for the close frame in answer; `nil` if the peer's close frame had no code.
        package var answer: UInt16?
    }

    private struct Frame {
        var opcode: WebSocketOpcode
        var isFinal: Bool
        var left: Int
        var mask: UInt32?
    }

    /// The limit for a message with all its fragments: the largest MQTT packet.
    package static let maximumMessageBytes = 268_435_460

    private let role: WebSocketRole
    private var header: [UInt8] = []
    private var frame: Frame?
    private var control: [UInt8] = []
    /// The size of the message so far; `nil` unless another fragment must follow.
    private var fragmentBytes: Int?
    private var ping: [UInt8]?
    /// Once this is set, the decoder ignores all bytes.
    package private(set) var end: End?

    package init(role: WebSocketRole) { self.role = role }

    /// Returns the payload in `bytes`, moved together within the buffer. See ``takePing()`` for pings, and ``end`` for
    /// close frames and errors.
    package mutating func decode(_ bytes: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        var position = 0
        var payload = 0..<0
        while self.end == nil, position < bytes.count {
            if self.frame == nil, !self.begin(bytes, &position) { continue }
            self.take(bytes, &position, &payload)
        }
        return UnsafeMutableRawBufferPointer(rebasing: bytes[payload])
    }

    /// Returns the payload of the last ping, once. Only the last ping needs an answer (RFC 6455 section 5.5.3).
    package mutating func takePing() -> [UInt8]? {
        defer { self.ping = nil }
        return self.ping
    }
}

extension WebSocketDecoder {
    private mutating func begin(_ bytes: UnsafeMutableRawBufferPointer, _ position: inout Int) -> Bool {
        if self.header.isEmpty {
            if let size = self.readHeader(UnsafeRawBufferPointer(rebasing: bytes[position...])) {
                position += size
                return true
            }
            // At most 13 bytes, since a header has at most 14.
            if self.end == nil { self.header.append(contentsOf: bytes[position...]) }
            position = bytes.count
            return false
        }
        self.header.append(bytes[position])
        position += 1
        let header = self.header
        guard header.withUnsafeBytes({ self.readHeader($0) }) != nil else { return false }
        self.header.removeAll(keepingCapacity: true)
        return true
    }

    /// Returns the header's size; `nil` if it is incomplete or wrong.
    private mutating func readHeader(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 2 else { return nil }
        guard bytes[0] & 0x70 == 0 else { return self.fail("a frame with reserved bits set") }
        guard let opcode = WebSocketOpcode(rawValue: bytes[0] & 0x0F) else {
            return self.fail("a frame of opcode \(bytes[0] & 0x0F), which does not exist")
        }
        let isFinal = bytes[0] & 0x80 != 0
        let isMasked = bytes[1] & 0x80 != 0
        guard isMasked == (self.role == .server) else {
            return self.fail(isMasked ? "a masked frame" : "a frame without a mask")
        }
        var length = UInt64(bytes[1] & 0x7F)
        if opcode.isControl {
            guard isFinal else { return self.fail("a fragmented \(opcode) frame") }
            guard length <= UInt64(WebSocketFrame.maximumControlBytes) else {
                return self.fail("a \(opcode) frame of more than 125 bytes")
            }
        } else {
            guard opcode != .text else { return self.fail("a text frame, and MQTT takes binary ones", answer: 1003) }
            guard (opcode == .continuation) == (self.fragmentBytes != nil) else {
                let isContinuation = opcode == .continuation
                return self.fail(isContinuation ? "a continuation of nothing" : "a message within another one")
            }
        }
        let lengthBytes = length == 126 ? 2 : length == 127 ? 8 : 0
        let size = 2 + lengthBytes + (isMasked ? 4 : 0)
        guard bytes.count >= size else { return nil }
        if lengthBytes > 0 {
            length = bytes[2..<2 + lengthBytes].reduce(0) { $0 << 8 | UInt64($1) }
            guard length >= (lengthBytes == 2 ? 126 : 65_536) else {
                return self.fail("a frame whose length has more bytes than it needs")
            }
        }
        let maximum = Self.maximumMessageBytes - (opcode.isControl ? 0 : self.fragmentBytes ?? 0)
        guard length <= UInt64(maximum) else {
            let rest = self.fragmentBytes == nil ? "" : " after \(self.fragmentBytes ?? 0) of the same message"
            let limit = "at most \(Self.maximumMessageBytes) are taken"
            return self.fail("a frame of \(length) bytes\(rest), and \(limit)", answer: 1009)
        }
        let mask = isMasked ? bytes.loadUnaligned(fromByteOffset: size - 4, as: UInt32.self).littleEndian : nil
        self.frame = Frame(opcode: opcode, isFinal: isFinal, left: Int(length), mask: mask)
        if !opcode.isControl { self.fragmentBytes = isFinal ? nil : Int(length) + (self.fragmentBytes ?? 0) }
        return size
    }

    private mutating func take(
        _ bytes: UnsafeMutableRawBufferPointer, _ position: inout Int, _ payload: inout Range<Int>
    ) {
        guard var frame = self.frame else { return }
        let count = min(frame.left, bytes.count - position)
        let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[position..<position + count])
        if let mask = frame.mask { frame.mask = WebSocketFrame.mask(piece, with: mask) }
        if frame.opcode.isControl {
            self.control.append(contentsOf: piece)
        } else if payload.isEmpty {
            payload = position..<position + count
        } else {
            if payload.upperBound < position {
                let gap = UnsafeMutableRawBufferPointer(rebasing: bytes[payload.upperBound...])
                gap.copyMemory(from: UnsafeRawBufferPointer(piece))
            }
            payload = payload.lowerBound..<payload.upperBound + count
        }
        position += count
        frame.left -= count
        self.frame = frame.left == 0 ? nil : frame
        if frame.left == 0, frame.opcode.isControl { self.endControl(frame.opcode, bytesAfter: bytes.count - position) }
    }

    private mutating func endControl(_ opcode: WebSocketOpcode, bytesAfter: Int) {
        let payload = self.control
        self.control.removeAll()
        switch opcode {
        case .ping: self.ping = payload
        case .close: self.close(payload, bytesAfter: bytesAfter)
        default: break
        }
    }

    /// RFC 6455 sections 5.5.1 and 7.4.
    private mutating func close(_ payload: [UInt8], bytesAfter: Int) {
        var code: UInt16?
        var words = "without a code"
        if payload.count >= 2 {
            let value = UInt16(payload[0]) << 8 | UInt16(payload[1])
            guard Self.isSendable(value) else {
                self.fail("a close frame of code \(value)")
                return
            }
            guard let reason = String(validating: payload[2...], as: UTF8.self) else {
                self.fail("a close frame whose reason is not UTF-8", answer: 1007)
                return
            }
            code = value
            words = "with code \(value)" + (Self.meaning(of: value).map { ", \($0)" } ?? "")
            if !reason.isEmpty { words += ": \(reason.onOneLine)" }
        } else if payload.count == 1 {
            self.fail("a close frame of one byte")
            return
        }
        if bytesAfter > 0 { words += "; and it sent \(bytesAfter) bytes after that" }
        let detail = "\(self.role.peer) closed the WebSocket \(words)"
        self.end = End(error: TransportError(.connectionLost, detail: detail), answer: code)
    }

    /// Always returns `nil`, for callers that return no header.
    @discardableResult
    private mutating func fail(_ what: String, answer: UInt16 = 1002) -> Int? {
        let detail = "\(self.role.peer) broke the WebSocket protocol: it sent \(what)"
        self.end = End(error: TransportError(.webSocketFailed, detail: detail), answer: answer)
        return nil
    }

    /// RFC 6455 section 7.4.2, and IANA's registry of close codes.
    private static func isSendable(_ code: UInt16) -> Bool {
        (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999).contains(code)
    }

    private static func meaning(of code: UInt16) -> String? {
        switch code {
        case 1000: "as usual"
        case 1001: "it is going away"
        case 1002: "it found a protocol error"
        case 1003: "it does not take such data"
        case 1007: "it found data that is not what it should be"
        case 1008: "against its policy"
        case 1009: "a message was too large"
        case 1010: "it misses an extension"
        case 1011: "it failed"
        case 1012: "it restarts"
        case 1013: "try again later"
        case 1014: "the server behind it failed"
        default: nil
        }
    }
}
