/// The header section of a response, collected line by line. It stores only the final response's section.
package struct ResponseHead {
    /// The size limit, in bytes, of all header sections of an exchange together: proxy, interim and final responses,
    /// and trailers. Real servers stay far below it. libcurl limits single lines only, and keeps every line itself.
    package static let maximumBytes = 256 << 10

    private var lines: [UInt8] = []
    private var byteCount = 0
    package private(set) var isComplete = false

    package init() {}

    /// Adds one line, with its line end. Returns `false` when the total exceeds ``maximumBytes``.
    package mutating func append(_ line: UnsafeRawBufferPointer) -> Bool {
        self.byteCount += line.count
        guard self.byteCount <= ResponseHead.maximumBytes else { return false }
        if line.starts(with: "HTTP/".utf8) {
            // The lines so far belong to an interim response (RFC 9110 section 15.2) or a proxy's.
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

    package func fields() -> [HTTPField] { self.lines.withUnsafeBufferPointer { [HTTPField](lines: $0) } }
}
