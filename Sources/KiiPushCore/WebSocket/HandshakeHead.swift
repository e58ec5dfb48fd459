/// Collects the start line and the header section of a request or answer of the opening handshake.
struct HandshakeHead: Sendable {
    static let maximumBytes = 16 << 10

    private var bytes: [UInt8] = []
    private var lineIsEmpty = true

    var isTooLong: Bool { self.bytes.count > HandshakeHead.maximumBytes }

    /// Returns the number of bytes of `input` that belong to the head once the head is complete; `nil` before.
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

    /// At most three words; the last may hold spaces.
    var startLine: [String] {
        let line = self.bytes.prefix { !$0.isOne(of: "\r\n") }
        return line.split(separator: UInt8(ascii: " "), maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
    }

    var mayBeHTTP: Bool { zip(self.bytes, "HTTP/1.".utf8).allSatisfy { $0 == $1 } }

    func fields() -> [HTTPField] {
        self.bytes.withUnsafeBufferPointer { bytes in
            let lines = bytes.drop { $0 != UInt8(ascii: "\n") }
            return [HTTPField](lines: UnsafeBufferPointer(rebasing: lines))
        }
    }
}

enum WebSocketWords {
    /// - Source: MQTT 3.1.1 section 6.
    static let subprotocol = "mqtt"

    /// The value of `Sec-WebSocket-Accept` for a client's key, which proves that the server has read the request.
    static func accept(_ key: String) -> String {
        Base64.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}

extension [HTTPField] {
    /// All members of a list field, which may span several fields (RFC 9110 section 5.3).
    func list(_ name: String) -> [String] {
        self.filter { $0.isNamed(name) }.flatMap { field in
            field.value.split(separator: ",").map { $0.trimmed }
        }
    }

    /// Ignores the case of the members; `word` is in lower case.
    func list(_ name: String, has word: String) -> Bool { self.list(name).contains { $0.lowercased() == word } }
}

extension Substring {
    fileprivate var trimmed: String {
        let start = self.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { String(start[...$0]) } ?? ""
    }
}
