/// The start line and the header section of either half of the opening handshake, as they come in.
struct HandshakeHead: Sendable {
    /// How much it may have. A server that upgrades says a few hundred bytes.
    static let maximumBytes = 16 << 10

    private var bytes: [UInt8] = []
    private var lineIsEmpty = true

    /// Whether there is more than ``maximumBytes`` of it.
    var isTooLong: Bool { self.bytes.count > HandshakeHead.maximumBytes }

    /// Takes the next bytes, and returns how many of them belong to the head once it is whole; `nil` before.
    mutating func append(_ input: UnsafeRawBufferPointer) -> Int? {
        for (index, byte) in input.enumerated() {
            self.bytes.append(byte)
            guard !self.isTooLong else { return nil }
            if byte == UInt8(ascii: "\n") {
                guard !self.lineIsEmpty else { return index + 1 }
                self.lineIsEmpty = true
            } else if byte != UInt8(ascii: "\r") {
                self.lineIsEmpty = false
            }
        }
        return nil
    }

    /// The words of the start line: three, of which the last may hold spaces.
    var startLine: [String] {
        let line = self.bytes.prefix { !$0.isOne(of: "\r\n") }
        return line.split(separator: UInt8(ascii: " "), maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether what has come can be the beginning of HTTP.
    var mayBeHTTP: Bool { zip(self.bytes, "HTTP/1.".utf8).allSatisfy { $0 == $1 } }

    func fields() -> [HTTPField] {
        self.bytes.withUnsafeBytes { bytes in
            let lines = bytes.drop { $0 != UInt8(ascii: "\n") }
            return [HTTPField](lines: UnsafeRawBufferPointer(rebasing: lines))
        }
    }
}

/// The words of the opening handshake that both halves use (RFC 6455 section 4).
enum WebSocketWords {
    /// - Source: MQTT 3.1.1 section 6.
    static let subprotocol = "mqtt"

    /// What a server makes of a client's key, to show that it has read the request.
    static func accept(_ key: String) -> String {
        Base64.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}

extension [HTTPField] {
    /// All values of a field, which may be a list and stand in several lines (RFC 9110 section 5.3).
    func list(_ name: String) -> [String] {
        self.filter { $0.isNamed(name) }.flatMap { field in
            field.value.split(separator: ",").map { $0.trimmed }
        }
    }

    /// Whether a list has `word`, in capitals or not.
    func list(_ name: String, has word: String) -> Bool { self.list(name).contains { $0.lowercased() == word } }
}

extension Substring {
    fileprivate var trimmed: String {
        let start = self.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { String(start[...$0]) } ?? ""
    }
}
