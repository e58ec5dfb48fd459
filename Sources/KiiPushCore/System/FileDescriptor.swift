import CSystem
import Glibc

/// A file descriptor that is closed when its object is released.
package final class FileDescriptor: Sendable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    /// Adds `O_CLOEXEC` to the flags. Returns `nil` on failure, with the reason in `errno`.
    package init?(opening path: String, _ flags: Int32, mode: UInt32 = 0o600) {
        let number = open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { return nil }
        self.number = number
    }

    /// The new number is at least `lowest`. Returns `nil` on failure, with the reason in `errno`.
    package init?(duplicating number: Int32, from lowest: Int32 = 0) {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, lowest)
        guard copy >= 0 else { return nil }
        self.number = copy
    }

    package init?(socket family: Int32, isDatagram: Bool = false) {
        let number = csystem_socket(family, isDatagram ? 1 : 0)
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit { close(self.number) }

    package static func connectedPair() throws(SystemError) -> (FileDescriptor, FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard csystem_socket_pair(&ends) == 0 else {
            throw SystemError("two sockets cannot be made")
        }
        return (FileDescriptor(ends[0]), FileDescriptor(ends[1]))
    }

    /// A read-only file in memory, for a child's standard input. A pipe would need a writer, and a socket cannot be
    /// opened as `/dev/stdin`. Unlike a file in `/dev/shm`, it needs no file system.
    package static func memoryFile(holding bytes: [UInt8]) throws(SystemError) -> FileDescriptor {
        let number = csystem_memory_file()
        guard number >= 0 else { throw SystemError("a file in memory cannot be made") }
        let file = FileDescriptor(number)
        guard file.fill(with: bytes) else { throw SystemError("a file in memory cannot be written") }
        guard csystem_seal(number) == 0 else { throw SystemError("a file in memory cannot be sealed") }
        return file
    }

    /// - Returns: the number of bytes read; 0 at the end; -1 with the reason in `errno`.
    package func read(into buffer: inout [UInt8]) -> Int {
        while true {
            let count = Glibc.read(self.number, &buffer, buffer.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Writes all bytes to the beginning of a file, and leaves its offset there.
    ///
    /// - Returns: `false` with the reason in `errno`.
    func fill(with bytes: [UInt8]) -> Bool {
        var position = 0
        while position < bytes.count {
            // If room is short, pwrite writes only a part, and the next call fails.
            let count = bytes[position...].withUnsafeBytes {
                pwrite(self.number, $0.baseAddress, $0.count, off_t(position))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                if count == 0 { errno = ENOSPC }
                return false
            }
            position += count
        }
        return true
    }

    package func makeNonBlocking() { _ = fcntl(self.number, F_SETFL, fcntl(self.number, F_GETFL) | O_NONBLOCK) }
}

extension FileDescriptor {
    /// Values of SHUT_WR and SHUT_RDWR in <sys/socket.h>, which some versions of the Glibc module do not export.
    package enum Direction: Int32 {
        case writing = 1
        case both = 2
    }

    package func shutDown(_ direction: Direction) { shutdown(self.number, direction.rawValue) }

    /// Returns `nil` on failure, with the reason in `errno`. The connection is blocking only if `waits` is `true`.
    package func accept(waits: Bool = false) -> FileDescriptor? {
        let number = csystem_accept(self.number, waits ? 1 : 0)
        return number >= 0 ? FileDescriptor(number) : nil
    }

    /// A closed peer causes `EPIPE`, without SIGPIPE.
    ///
    /// - Returns: the number of bytes sent; -1 with the reason in `errno`.
    package func send(_ bytes: ArraySlice<UInt8>, flags: Int = 0) -> Int {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(self.number, $0.baseAddress, $0.count, Int32(flags | Int(MSG_NOSIGNAL)))
            }
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// - Returns: the number of bytes received; 0 at the end; -1 with the reason in `errno`.
    package func receive(into buffer: inout [UInt8], flags: Int = 0) -> Int {
        while true {
            let count = recv(self.number, &buffer, buffer.count, Int32(flags))
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Sets the longest wait of each read (`SO_RCVTIMEO`) or write (`SO_SNDTIMEO`); ``Duration/zero`` means no limit.
    package func limit(_ option: Int32, to patience: Duration) {
        let (seconds, attoseconds) = patience.components
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(self.number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
}
