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
    /// write, and unlike a socket it can be opened as `/dev/stdin`.
    package static func file(holding bytes: [UInt8], for program: String) throws(SpawnError) -> OwnedDescriptor {
        // POSIX has the descriptor closed in programs that are started.
        let name = "/kii-push-\(getpid())-\(UInt64.random(in: .min ... .max))"
        let number = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        guard number >= 0 else { throw SpawnError(program: program, code: errno, step: "make a file in /dev/shm for") }
        shm_unlink(name)
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
                throw SpawnError(program: program, code: code, step: "write a file in /dev/shm for")
            }
            position += count
        }
        return file
    }
}
