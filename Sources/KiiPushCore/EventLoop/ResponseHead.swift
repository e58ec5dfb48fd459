/// The header section of a response as it comes in, line by line. Only the final response's is kept.
package struct ResponseHead {
    /// How much all header sections of an exchange may have: of a proxy, of interim responses and of the final one, trailers
    /// included. More than any real server sends; libcurl keeps every line itself, and limits only single ones.
    package static let maximumBytes = 256 << 10

    private var lines: [UInt8] = []
    private var byteCount = 0
    package private(set) var isComplete = false

    package init() {}

    /// Takes one line with its line end. Returns `false` when there is more than ``maximumBytes``.
    package mutating func append(_ line: UnsafeRawBufferPointer) -> Bool {
        self.byteCount += line.count
        guard self.byteCount <= ResponseHead.maximumBytes else { return false }
        if line.starts(with: "HTTP/".utf8) {
            // An interim response (RFC 9110 section 15.2) or a proxy's came before.
            self.lines.removeAll(keepingCapacity: true)
            self.isComplete = false
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            self.isComplete = true
        } else if !self.isComplete {
            // Trailer fields must not pose as header fields (RFC 9110 section 6.5.1).
            self.lines.append(contentsOf: line)
        }
        return true
    }

    package func fields() -> [HTTPField] {
        self.lines.withUnsafeBufferPointer { lines in
            var fields: [HTTPField] = []
            for line in lines.split(separator: UInt8(ascii: "\n")) {
                if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
                    // Obsolete line folding (RFC 9112 section 5.2): the line continues the one before.
                    guard let last = fields.indices.last else { continue }
                    fields[last].value += " " + ResponseHead.text(line)
                } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                    fields.append(HTTPField(ResponseHead.text(line[..<colon]), ResponseHead.text(line[(colon + 1)...])))
                }
            }
            return fields
        }
    }

    /// Without the white space around it.
    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let isText: (UInt8) -> Bool = { !$0.isOne(of: " \t\r") }
        guard let first = bytes.firstIndex(where: isText), let last = bytes.lastIndex(where: isText) else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}
