package struct LineBuffer: Sendable {
    /// 64 MiB: room for the largest message with every byte escaped.
    package static let maximumBytes = 1 << 26

    private var rest: [UInt8] = []
    private let limit: Int
    private var isSkipping = false

    package init(limit: Int = LineBuffer.maximumBytes) { self.limit = limit }

    /// Returns the lines that end in `bytes`, without their line feeds. `nil` stands for a line over the limit, whose
    /// end may still be missing.
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
