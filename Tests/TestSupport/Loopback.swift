import Glibc

/// Plain blocking TCP sockets on 127.0.0.1. No child inherits them, and the caller closes them.
package enum Loopback {
    /// A socket that is bound to `port` but does not listen; with 0 the kernel chooses the port.
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

    /// A listening socket on a free port, which stays reserved until the socket is closed. It is bound by number,
    /// because the kernel releases a port of its own choice when the socket stops listening (`SOCK_BINDPORT_LOCK` in
    /// Linux).
    package static func listening() throws -> (descriptor: Int32, port: UInt16) {
        let free = try Loopback.bound()
        close(free.descriptor)
        // Another process may have taken the port meanwhile.
        guard let socket = try? Loopback.bound(to: free.port) else { return try Loopback.listening() }
        guard listen(socket.descriptor, 1024) == 0 else {
            let number = errno
            close(socket.descriptor)
            throw TestFailure("port \(socket.port) of 127.0.0.1 cannot be listened on: errno \(number)")
        }
        return socket
    }

    /// A connection; `nil` if nobody listens. Does not wait.
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
