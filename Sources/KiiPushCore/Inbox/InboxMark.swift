import Glibc

/// The last number and the counts of an inbox, in a small file beside the database (`inbox.sqlite-mark`).
///
/// SQLite cannot detect that a database is missing, is an older copy, or lost the end of its log. The mark is then
/// ahead of the database. The mark of a sound database is not ahead, since the mark is written after commits.
package struct InboxMark: Equatable {
    var sequence: Int64
    package var stored: Int64
    var unfinished: Int64
    var lost: Int64

    init(of ledger: InboxLedger) {
        (self.sequence, self.stored) = (ledger.lastSequence, ledger.stored)
        (self.unfinished, self.lost) = (ledger.unfinished, ledger.lost)
    }

    func isAhead(of ledger: InboxLedger) -> Bool { self.sequence > ledger.lastSequence || self.stored > ledger.stored }

    func require(in ledger: InboxLedger) throws(InboxError) {
        guard self.isAhead(of: ledger) else { return }
        let missing = self.stored - ledger.stored
        throw InboxError(.corrupt, step: "finding the last \(missing) of \(self.stored) messages in the file")
    }

    func missing(from ledger: InboxLedger) -> Int64 { max(0, min(self.stored - ledger.stored, self.unfinished)) }

    static let suffix = "-mark"

    private static let title = "kii-push inbox mark 1"

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

    package init?(bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
        // A name precedes each number, and the check sum is last. The first number is the version.
        let numbers = words.compactMap { Int64($0) }.filter { (0...(1 << 56)).contains($0) }
        guard numbers.count >= 5 else { return nil }
        (self.sequence, self.stored, self.unfinished, self.lost) = (numbers[1], numbers[2], numbers[3], numbers[4])
        guard Array(self.line.utf8) == Array(bytes[...end]) else { return nil }
    }

    /// Overwrites the former mark in one write of the same length; a check sum shows whether the mark is complete.
    /// Returns false on failure. With `isFlushed`, the call takes milliseconds.
    @discardableResult
    func write(besides path: String, isFlushed: Bool) -> Bool {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK
        guard let file = FileDescriptor(opening: path + Self.suffix, flags) else { return false }
        let bytes = Array(self.line.utf8)
        guard pwrite(file.number, bytes, bytes.count, 0) == bytes.count else { return false }
        return !isFlushed || fdatasync(file.number) == 0
    }

    package var line: String {
        func padded(_ text: String, to length: Int) -> String {
            String(repeating: "0", count: max(0, length - text.utf8.count)) + text
        }
        let numbers = [
            ("sequence", self.sequence), ("stored", self.stored), ("unfinished", self.unfinished), ("lost", self.lost),
        ]
        let text = Self.title + numbers.map { " \($0) \(padded("\($1)", to: 17))" }.joined()
        return "\(text) \(padded(String(text.stableHash, radix: 16), to: 16))\n"
    }
}
