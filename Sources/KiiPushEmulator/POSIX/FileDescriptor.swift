import Glibc

/// A file descriptor that is closed with its owner.
struct FileDescriptor: ~Copyable, Sendable {
    let raw: Int32

    init(owning raw: Int32) { self.raw = raw }

    deinit { close(self.raw) }

    /// Gives the descriptor to somebody else, who closes it.
    consuming func release() -> Int32 {
        let raw = self.raw
        discard self
        return raw
    }

    /// A second descriptor of the same file, numbered `lowest` or higher, that no child process inherits.
    static func duplicate(_ raw: Int32, from lowest: Int32) throws(EmulatorError) -> FileDescriptor {
        let copy = fcntl(raw, F_DUPFD_CLOEXEC, lowest)
        guard copy >= 0 else { throw .system("duplicate a descriptor", errno) }
        return FileDescriptor(owning: copy)
    }

    /// Two connected stream sockets that no child process inherits.
    ///
    /// They stand in for pipes, which the Glibc module can make close-on-exec only in two steps.
    static func connectedPair() throws(EmulatorError) -> FileDescriptorPair {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw .system("make a pair of sockets", errno) }
        return FileDescriptorPair(first: .init(owning: pair[0]), second: .init(owning: pair[1]))
    }
}

/// The two ends that ``FileDescriptor/connectedPair()`` makes.
struct FileDescriptorPair: ~Copyable, Sendable {
    let first: FileDescriptor
    let second: FileDescriptor
}

/// What makes a thread that sits in `poll` look up, callable from any thread.
final class WakeUp: Sendable {
    private let pair: FileDescriptorPair

    init() throws(EmulatorError) { self.pair = try FileDescriptor.connectedPair() }

    /// Becomes readable after ``signal()``.
    var descriptor: Int32 { self.pair.first.raw }

    func signal() {
        var byte: UInt8 = 1
        // A full buffer means that a wake-up is pending already.
        _ = send(self.pair.second.raw, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while recv(self.pair.first.raw, &bytes, bytes.count, 0) > 0 {}
    }
}
