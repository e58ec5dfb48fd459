import Glibc
package import KiiPushCore

/// Standard output or error. An ``OutputQueue`` writes in the order of the calls; both streams share one if they are
/// the same terminal, pipe or file. ``finish()`` waits for its end.
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

    private static func isOne(_ first: Int32, _ second: Int32) -> Bool {
        var (one, other) = (stat(), stat())
        guard fstat(first, &one) == 0, fstat(second, &other) == 0 else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    package var isTerminal: Bool { isatty(self.descriptor) == 1 }

    /// The terminal's width in columns; `nil` without a terminal, or if it does not know.
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

    /// Queues data. Throws an error of earlier data; ``written()`` waits until this data is written.
    package func write(_ text: String) throws { try self.write(Array(text.utf8)) }
    package func write(_ bytes: [UInt8]) throws { try self.queue.put(bytes) }

    /// Queues data without waiting, and ignores errors: they could be reported nowhere.
    package func say(_ text: String) { self.queue.putLine(Array(text.utf8)) }

    /// Waits until all data is written; throws ``SilentExit``, or ``CommandFailure`` with exit 74.
    package func written() async throws { try await self.queue.written() }
    /// Like ``written()``, but blocks the thread.
    package func waitUntilWritten() throws { try self.queue.waitUntilWritten() }

    /// Waits until both streams are written; throws like ``written()`` of standard output.
    package static func finish() async throws {
        // Errors of standard error could be reported nowhere.
        try? await self.error.written()
        try await self.output.written()
    }
}

extension StopSignals {
    /// Handles ^C and SIGTERM for a command. After the first signal, output gives up on a reader that reads nothing.
    package static func ofCommand(asks: [Int32] = []) throws(SystemError) -> StopSignals {
        try StopSignals(asks: asks, whenStopped: { OutputQueue.hurry() })
    }
}
