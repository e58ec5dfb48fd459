import Glibc
package import KiiPushCore

/// The reader of standard output went away: nobody is left to talk to, so the process ends without a word.
package struct BrokenPipe: Error {}

/// Standard output or error. An ``OutputQueue`` writes them in the order of the calls, and both share one where they are the
/// same terminal, pipe or file. ``finish()`` waits for its end.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(
        descriptor: STDERR_FILENO, isOneWithOutput: Self.isOne(STDOUT_FILENO, STDERR_FILENO))

    private let descriptor: Int32
    private let queue: OutputQueue

    private init(descriptor: Int32, isOneWithOutput: Bool = false) {
        self.descriptor = descriptor
        self.queue =
            isOneWithOutput
            ? StandardStream.output.queue : OutputQueue(descriptor: descriptor, name: "the output")
    }

    /// Whether both are the same file.
    private static func isOne(_ first: Int32, _ second: Int32) -> Bool {
        var (one, other) = (stat(), stat())
        guard fstat(first, &one) == 0, fstat(second, &other) == 0 else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    package var isTerminal: Bool { isatty(self.descriptor) == 1 }

    /// How wide the terminal is; `nil` where there is none, or one that does not know.
    var terminalColumns: Int? {
        var size = winsize()
        guard ioctl(self.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Opens `/dev/null` in place of a standard descriptor that is closed. Otherwise the next file that is opened, such
    /// as an inbox, takes its number, and output goes into that file. The mode is the wrong one on purpose: reading
    /// standard input and writing output fail, so output that nobody gets does not count as written.
    static func reserveDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)] {
            if fcntl(descriptor, F_GETFD) == -1, errno == EBADF { _ = open("/dev/null", mode) }
        }
    }

    /// Has data written. An error of earlier data is thrown; ``written()`` waits for the end of this.
    package func write(_ text: String) throws { try self.write(Array(text.utf8)) }
    package func write(_ bytes: [UInt8]) throws { try self.queue.put(bytes) }

    /// Has something written that nobody waits for: where that fails, or nobody reads it, there is nobody to tell.
    package func say(_ text: String) { self.queue.putLine(Array(text.utf8)) }

    /// Waits until all is out that was written; throws ``BrokenPipe``, ``UnreadOutput``, ``CommandFailure`` with exit 74.
    package func written() async throws { try await self.queue.written() }
    /// The same on a thread that may wait.
    package func waitUntilWritten() throws { try self.queue.waitUntilWritten() }

    /// Waits until all is out; throws as ``written()`` of standard output does.
    package static func finish() async throws {
        // Where nobody reads standard error, there is nobody to tell.
        try? await self.error.written()
        try await self.output.written()
    }
}

extension StopSignals {
    /// Takes ^C and SIGTERM over for a command. From the first signal on it does not wait for a reader that reads nothing.
    package static func ofCommand(asks: [Int32] = []) throws(Failure) -> StopSignals {
        try StopSignals(asks: asks, whenStopped: { OutputQueue.hurry() })
    }
}
