/// Cuts a stream of bytes into lines.
package struct LineBuffer: Sendable {
    /// The longest line that is taken, with room for the largest message whose every byte is escaped.
    package static let maximumBytes = 1 << 26

    private var rest: [UInt8] = []
    private let limit: Int
    /// What is left of a line that was too long is thrown away.
    private var isSkipping = false

    /// - Parameter limit: the most bytes of a line.
    package init(limit: Int = LineBuffer.maximumBytes) { self.limit = limit }

    /// Takes bytes, and returns the lines that end in them, without their line feeds; `nil` for one that becomes too long,
    /// of which the rest is thrown away.
    package mutating func lines(from bytes: some Collection<UInt8>) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        var bytes = bytes[...]
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            self.append(bytes[..<end], &lines)
            if !self.isSkipping { lines.append(self.rest) }
            self.rest = []
            self.isSkipping = false
            bytes = bytes[bytes.index(after: end)...]
        }
        self.append(bytes, &lines)
        return lines
    }

    private mutating func append(_ bytes: some Collection<UInt8>, _ lines: inout [[UInt8]?]) {
        guard !self.isSkipping else { return }
        guard self.rest.count + bytes.count <= self.limit else {
            self.rest = []
            self.isSkipping = true
            lines.append(nil)
            return
        }
        self.rest += bytes
    }
}
