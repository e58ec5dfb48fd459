package import Glibc

package final class DatagramSocket: Sendable {
    private let file: FileDescriptor
    private let address: [UInt8]

    /// Returns `nil` if the system provides no socket, or if `path` is too long, or neither absolute nor an abstract
    /// name that begins with `@`.
    ///
    /// - Parameter patience: the longest wait to send a datagram.
    package init?(path: String, patience: Duration) {
        var name = Array(path.utf8)
        guard name.count > 1, name.count < sockaddr_un.room, let first = name.first else { return nil }
        switch first {
        // unix(7): an abstract name begins with a zero byte.
        case UInt8(ascii: "@"): name[0] = 0
        case UInt8(ascii: "/"): name.append(0)
        default: return nil
        }
        guard let file = FileDescriptor(socket: AF_UNIX, isDatagram: true) else { return nil }
        file.limit(SO_SNDTIMEO, to: max(.milliseconds(1), patience))
        self.file = file
        self.address = name
    }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        let length = MemoryLayout<sockaddr_un>.size - sockaddr_un.room + self.address.count
        return sockaddr_un(self.address).withAddress { address, _ in
            sendto(self.file.number, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, socklen_t(length)) == bytes.count
        }
    }
}

extension sockaddr_un {
    package static let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    package init(_ name: some Collection<UInt8>) {
        self.init()
        self.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &self.sun_path) { $0.copyBytes(from: name) }
    }

    package func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: self) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
