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
