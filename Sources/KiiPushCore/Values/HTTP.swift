/// An HTTP header field. Names compare without regard to case (RFC 9110 section 5.1).
package struct HTTPField: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

    package func isNamed(_ name: String) -> Bool {
        func lowercased(_ byte: UInt8) -> UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte }
        return self.name.utf8.elementsEqual(name.utf8) { lowercased($0) == lowercased($1) }
    }
}

extension [HTTPField] {
    /// Reads header lines (RFC 9112 section 5). Drops a line without a colon, unless it continues a field.
    package init(lines: UnsafeBufferPointer<UInt8>) {
        self = []
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
                // Obsolete line folding (section 5.2): this line continues the previous one.
                guard let last = self.indices.last else { continue }
                self[last].value += " " + Self.text(line)
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                self.append(HTTPField(Self.text(line[..<colon]), Self.text(line[(colon + 1)...])))
            }
        }
    }

    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let isText: (UInt8) -> Bool = { !$0.isOne(of: " \t\r") }
        guard let first = bytes.firstIndex(where: isText), let last = bytes.lastIndex(where: isText) else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}

package struct HTTPRequest: Sendable {
    package var method: String
    /// An absolute `http` or `https` URL, already percent-encoded.
    package var url: String
    /// In sending order. Fields may hold credentials: never log them.
    package var fields: [HTTPField]
    /// `nil` sends no body; an empty array sends `Content-Length: 0`.
    package var body: [UInt8]?
    /// The time limit of the whole exchange. Default 30 s.
    package var timeout: Duration
    /// The time limit of the body, for a caller that needs only status and fields. A late or incomplete body is no
    /// error, and the response's `body` is always empty. Default `nil`: the caller needs the body.
    package var bodyPatience: Duration?

    package init(
        method: String, url: String, fields: [HTTPField] = [], body: [UInt8]? = nil, timeout: Duration = .seconds(30)
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeout = timeout
    }
}

package struct HTTPResponse: Sendable {
    package var status: Int
    package var fields: [HTTPField]
    package var body: [UInt8]

    package init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
        (self.status, self.fields, self.body) = (status, fields, body)
    }

    package func field(_ name: String) -> String? { self.fields.first { $0.isNamed(name) }?.value }
}

package protocol HTTPTransport: Sendable {
    /// - Throws: ``TransportError`` if no complete response arrives; `CancellationError`.
    func perform(_ request: HTTPRequest) async throws -> HTTPResponse
}
