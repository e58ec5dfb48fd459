import Glibc

/// TCP sockets on 127.0.0.1: bare and blocking, inherited by no child, and the caller's to close.
package enum Loopback {
    /// A socket that holds `port`, or with 0 one that is free, and does not listen.
    package static func bound(to port: UInt16 = 0) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = Loopback.socket()
        var address = Loopback.address(port: port)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                var length = Loopback.length
                return bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard code == 0 else {
            let number = errno
            close(descriptor)
            throw TestFailure("port \(port) of 127.0.0.1 (0: any) cannot be had: errno \(number)")
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// A socket that listens on a port which was free. The port is its own until it is closed: the kernel takes one that it
    /// chose itself away from a socket that no longer listens (`SOCK_BINDPORT_LOCK` in Linux).
    package static func listening() throws -> (descriptor: Int32, port: UInt16) {
        let free = try Loopback.bound()
        close(free.descriptor)
        // Another process may be quicker.
        guard let socket = try? Loopback.bound(to: free.port) else { return try Loopback.listening() }
        guard listen(socket.descriptor, 1024) == 0 else {
            let number = errno
            close(socket.descriptor)
            throw TestFailure("port \(socket.port) of 127.0.0.1 cannot be listened on: errno \(number)")
        }
        return socket
    }

    /// A connection; `nil` where nobody listens. Made or refused without waiting.
    package static func connected(to port: UInt16) -> Int32? {
        let descriptor = Loopback.socket()
        var address = Loopback.address(port: port)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, Loopback.length) }
        }
        guard code == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static let length = socklen_t(MemoryLayout<sockaddr_in>.size)

    private static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
