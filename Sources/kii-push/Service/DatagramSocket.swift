import Glibc

/// The address of a local datagram socket of somebody else, as service managers and journals have them.
final class DatagramSocket: Sendable {
    private let descriptor: Int32
    private let address: [UInt8]

    /// - Parameters:
    ///   - path: a path, or with `@` at its beginning a name that is in no file system.
    ///   - patience: how long a datagram waits at most while the reader has as many as it takes.
    /// - Returns: `nil` for what is neither, or when the system gives no socket.
    init?(path: String, patience: Duration) {
        var name = Array(path.utf8)
        guard name.count > 1, name.count < Self.mostBytes, let first = name.first else { return nil }
        switch first {
        // unix(7): an abstract name begins with a zero byte, and has as many bytes as the address says.
        case UInt8(ascii: "@"): name[0] = 0
        case UInt8(ascii: "/"): name.append(0)
        default: return nil
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        // socket(7): zero would be for ever.
        let milliseconds = Int(max(1, patience.milliseconds))
        var patience = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        self.descriptor = descriptor
        self.address = name
    }

    deinit { close(self.descriptor) }

    /// Sends a datagram.
    ///
    /// - Returns: whether it was taken.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: self.address) }
        let length = MemoryLayout<sockaddr_un>.size - Self.mostBytes + self.address.count
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, socklen_t(length))
                    == bytes.count
            }
        }
    }

    /// The room of `sun_path`.
    private static let mostBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
}
