import Glibc

/// A file descriptor that is closed with its owner, and that no program inherits that is started.
package final class OwnedDescriptor: Sendable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    deinit { close(self.number) }

    /// What is shut of a socket. SHUT_WR and SHUT_RDWR of <sys/socket.h>, which the Glibc module does not always show.
    package enum Direction: Int32 {
        case writing = 1
        case both = 2
    }

    package func shutDown(_ direction: Direction) { shutdown(self.number, direction.rawValue) }

    /// Two local sockets that are connected with each other.
    ///
    /// - Parameter program: what they are for, for the error.
    package static func connectedPair(for program: String) throws(SpawnError) -> (OwnedDescriptor, OwnedDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SpawnError(program: program, code: errno, step: "make two sockets for")
        }
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    /// A file without a name, in memory, that a program can read as its standard input: unlike a pipe it needs nobody to
    /// write, and unlike a socket it can be opened as `/dev/stdin`. Nobody can change it any more, whoever opens it.
    ///
    /// It needs no file system: `/dev/shm` may be full, or small as in a container, or missing.
    package static func file(holding bytes: [UInt8], for program: String) throws(SpawnError) -> OwnedDescriptor {
        let number = MemoryFile.make()
        guard number >= 0 else { throw SpawnError(program: program, code: errno, step: "make a file in memory for") }
        let file = OwnedDescriptor(number)
        var position = 0
        while position < bytes.count {
            // Where room is short a part is written, and only the next call says why not more.
            let count = bytes.withUnsafeBytes { bytes in
                pwrite(number, bytes.baseAddress.map { $0 + position }, bytes.count - position, off_t(position))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : ENOSPC
                throw SpawnError(program: program, code: code, step: "write a file in memory for")
            }
            position += count
        }
        guard fcntl(number, MemoryFile.addSeals, MemoryFile.unchangeable) == 0 else {
            throw SpawnError(program: program, code: errno, step: "seal a file in memory for")
        }
        return file
    }
}

/// memfd_create(2), which Glibc shows to C with _GNU_SOURCE alone, and its constants.
private enum MemoryFile {
    private typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32

    /// Looked for by its name: the C library has it whatever its headers show.
    private static let create: Create? = dlsym(nil, "memfd_create").map { unsafeBitCast($0, to: Create.self) }

    /// MFD_CLOEXEC and MFD_ALLOW_SEALING.
    private static let flags: UInt32 = 0x1 | 0x2
    /// MFD_NOEXEC_SEAL, which a kernel may demand (vm.memfd_noexec), and one before 6.3 does not know.
    private static let noExecution: UInt32 = 0x8
    /// F_ADD_SEALS.
    static let addSeals: Int32 = 1033
    /// F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE.
    static let unchangeable: Int32 = 0x1 | 0x2 | 0x4 | 0x8

    /// - Returns: a descriptor that programs do not inherit; -1 with `errno`.
    static func make() -> Int32 {
        guard let create = Self.create else {
            errno = ENOSYS
            return -1
        }
        let number = create("kii-push", Self.flags | Self.noExecution)
        return number >= 0 || errno != EINVAL ? number : create("kii-push", Self.flags)
    }
}
