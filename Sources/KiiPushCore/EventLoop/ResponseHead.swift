package struct ResponseHead {
    /// The limit in bytes for all header sections of an exchange: proxy, interim and final responses, and trailers.
    /// libcurl before 8.3 limits only single lines.
    package static let maximumBytes = 256 << 10

    private var lines: [UInt8] = []
    private var byteCount = 0
    package private(set) var isComplete = false

    package init() {}

    package mutating func append(_ line: UnsafeRawBufferPointer) -> Bool {
        self.byteCount += line.count
        guard self.byteCount <= ResponseHead.maximumBytes else { return false }
        if line.starts(with: "HTTP/".utf8) {
            // The earlier lines belong to a proxy's or an interim response (RFC 9110 section 15.2).
            self.lines.removeAll(keepingCapacity: true)
            self.isComplete = false
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            self.isComplete = true
        } else if !self.isComplete {
            // Trailer fields must not count as header fields (RFC 9110 section 6.5.1).
            self.lines.append(contentsOf: line)
        }
        return true
    }

    package func fields() -> [HTTPField] { self.lines.withUnsafeBufferPointer { [HTTPField](lines: $0) } }
}
