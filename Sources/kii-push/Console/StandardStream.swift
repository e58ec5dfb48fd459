import Glibc

/// The reader of standard output went away: nobody is left to talk to, so the process ends without a word.
struct BrokenPipe: Error {}

/// Standard output or error, unbuffered: what was written is out when the call returns.
struct StandardStream: Sendable {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    private let descriptor: Int32

    var isTerminal: Bool { isatty(self.descriptor) == 1 }

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

    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try self.write(UnsafeRawBufferPointer($0)) }
    }

    func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try self.write($0) } }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(self.descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            } else if errno == EAGAIN {
                // A descriptor inherited as non-blocking: wait until it takes more.
                var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if errno == EPIPE {
                throw BrokenPipe()
            } else if errno != EINTR {
                throw CommandFailure(.inputOutput, "cannot write the output: \(errorText(errno))")
            }
        }
    }
}

func errorText(_ number: Int32) -> String { String(cString: strerror(number)) }
