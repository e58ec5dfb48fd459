import Glibc

/// The progress of an inbox, in a small file of its own beside the database (`inbox.sqlite-mark`).
///
/// SQLite cannot see that a whole file is missing, is an older copy, or lost the end of its log. A mark that is ahead
/// of the file shows it. The store writes the mark after commits, so a mark is never ahead of a sound file.
package struct InboxMark: Equatable {
    var sequence: Int64
    /// The number of messages ever stored.
    package var stored: Int64
    var unfinished: Int64
    /// The number of messages lost with earlier files.
    var lost: Int64

    init(of ledger: InboxLedger) {
        (self.sequence, self.stored) = (ledger.lastSequence, ledger.stored)
        (self.unfinished, self.lost) = (ledger.unfinished, ledger.lost)
    }

    /// Whether this mark was written after the last commit that a file with this ledger holds.
    func isAhead(of ledger: InboxLedger) -> Bool { self.sequence > ledger.lastSequence || self.stored > ledger.stored }

    /// - Throws: ``InboxError`` of kind `corrupt` if a file with this ledger lacks messages.
    func require(in ledger: InboxLedger) throws(InboxError) {
        guard self.isAhead(of: ledger) else { return }
        let missing = self.stored - ledger.stored
        throw InboxError(.corrupt, step: "finding the last \(missing) of \(self.stored) messages in the file")
    }

    /// The most unfinished messages that a file with this ledger can lack.
    func missing(from ledger: InboxLedger) -> Int64 { max(0, min(self.stored - ledger.stored, self.unfinished)) }

    /// As with SQLite's `-wal` and `-shm`, the mark belongs to the file whose name it continues.
    static let suffix = "-mark"

    private static let title = "kii-push inbox mark 1"

    /// Reads the mark of an inbox file; `nil` if there is no complete one.
    package init?(ofInboxAt path: String) {
        guard let file = FileDescriptor(opening: path + Self.suffix, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
            return nil
        }
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = file.read(into: &bytes)
        self.init(bytes: Array(bytes[..<max(0, count)]))
    }

    /// Reads the bytes of a file; `nil` unless they begin with a complete mark.
    package init?(bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
        // A name before each number, and the check sum behind the last.
        let numbers = words.compactMap { Int64($0) }.filter { (0...(1 << 56)).contains($0) }
        guard numbers.count >= 5 else { return nil }
        // The first one is the version.
        (self.sequence, self.stored, self.unfinished, self.lost) = (numbers[1], numbers[2], numbers[3], numbers[4])
        guard Array(self.line.utf8) == Array(bytes[...end]) else { return nil }
    }

    /// Overwrites the former mark in a single write of the same length, which the check sum proves complete. If the
    /// write fails, the older mark protects less, and raises no false alarm. `isFlushed` takes milliseconds.
    @discardableResult
    func write(besides path: String, isFlushed: Bool) -> Bool {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK
        guard let file = FileDescriptor(opening: path + Self.suffix, flags) else { return false }
        let bytes = Array(self.line.utf8)
        guard pwrite(file.number, bytes, bytes.count, 0) == bytes.count else { return false }
        return !isFlushed || fdatasync(file.number) == 0
    }

    /// One line that people can read too. Its length is always the same.
    package var line: String {
        func padded(_ text: String, to length: Int) -> String {
            String(repeating: "0", count: max(0, length - text.utf8.count)) + text
        }
        let numbers = [
            ("sequence", self.sequence), ("stored", self.stored), ("unfinished", self.unfinished), ("lost", self.lost),
        ]
        let text = Self.title + numbers.map { " \($0) \(padded("\($1)", to: 17))" }.joined()
        // FNV-1a, 64 bits: it recognises an accident, and is no protection against anybody.
        let sum = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\(text) \(padded(String(sum, radix: 16), to: 16))\n"
    }
}
