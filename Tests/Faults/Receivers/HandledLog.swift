import Glibc

/// The log of a receiver. Each reading continues where the last one stopped.
package struct HandledLog: Sendable {
    private let path: String
    private var offset = 0
    /// Number of completed handlings, by message number and by the receiver's ID of the message.
    package private(set) var endings: [Int: [String: Int]] = [:]
    package private(set) var endedCount = 0
    package private(set) var begunCount = 0
    /// The number of the latest begun message.
    package private(set) var lastBegun: Int?

    package init(path: String) { self.path = path }

    /// Number of begun handlings without an end: running or interrupted.
    package var interrupted: Int { self.begunCount - self.endedCount }

    /// Reads new lines. Returns `false` if there are none.
    @discardableResult
    package mutating func read() -> Bool {
        let descriptor = open(self.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var isNew = false
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = pread(descriptor, &chunk, chunk.count, self.offset)
            // Text after the last line end is an incomplete line.
            guard count > 0, let end = chunk[..<count].lastIndex(of: UInt8(ascii: "\n")) else { return isNew }
            for line in chunk[..<end].split(separator: UInt8(ascii: "\n")) {
                self.take(String(decoding: line, as: UTF8.self))
            }
            self.offset += end + 1
            isNew = true
        }
    }

    private mutating func take(_ line: String) {
        let words = line.split(separator: " ")
        guard words.count == 3, let number = Int(words[1]) else { return }
        if words[0] == "began" {
            self.begunCount += 1
            self.lastBegun = number
        } else if words[0] == "ended" {
            self.endedCount += 1
            self.endings[number, default: [:]][String(words[2]), default: 0] += 1
        }
    }
}
