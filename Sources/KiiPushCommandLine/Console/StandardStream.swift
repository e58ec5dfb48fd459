import Glibc
package import KiiPushCore

/// Standard output or standard error. If both are the same terminal, pipe or file, they share one ``OutputQueue``,
/// which keeps the order of the calls.
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

    var terminalColumns: Int? {
        var size = winsize()
        guard ioctl(self.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Opens `/dev/null` for each closed standard descriptor. Without this, a file that is opened later, such as an
    /// inbox, could get the descriptor's number, and output would go into that file. The wrong access mode is intended:
    /// reading standard input and writing output then fail, so that lost output does not count as written.
    static func reserveDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)] {
            if fcntl(descriptor, F_GETFD) == -1, errno == EBADF { _ = open("/dev/null", mode) }
        }
    }

    /// Queues data. ``written()`` waits until the data is written.
    ///
    /// - Throws: the error of earlier data.
    package func write(_ text: String) throws { try self.write(Array(text.utf8)) }
    package func write(_ bytes: [UInt8]) throws { try self.queue.put(bytes) }

    package func say(_ text: String) { self.queue.putLine(Array(text.utf8)) }

    /// Waits until all data is written.
    ///
    /// - Throws: ``SilentExit``; ``CommandFailure`` with exit 74.
    package func written() async throws { try await self.queue.written() }
    package func waitUntilWritten() throws { try self.queue.waitUntilWritten() }

    package static func finish() async throws {
        try? await self.error.written()
        try await self.output.written()
    }
}

extension StopSignals {
    /// Handles ^C and SIGTERM for a command. After the first signal, unread output no longer delays the command's
    /// end.
    package static func ofCommand(asks: [Int32] = []) throws(SystemError) -> StopSignals {
        try StopSignals(asks: asks, whenStopped: { OutputQueue.limitWaiting() })
    }
}
