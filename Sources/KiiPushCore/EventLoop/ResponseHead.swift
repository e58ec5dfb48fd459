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

    package func fields() -> [HTTPField] { self.lines.withUnsafeBytes { [HTTPField](lines: $0) } }
}
