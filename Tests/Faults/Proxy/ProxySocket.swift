import Glibc

/// TCP sockets on 127.0.0.1, as the proxy needs them.
enum ProxySocket {
    /// A listener on a port that is free.
    static func listen() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var address = ProxySocket.address(port: 0)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && Glibc.listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isListening else { throw FaultError("cannot listen on the loopback interface: errno \(errno)") }
        ProxySocket.makeNonBlocking(descriptor)
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// The next connection; `nil` when there is none.
    static func accept(_ listener: Int32) -> Int32? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        ProxySocket.makeNonBlocking(descriptor)
        ProxySocket.sendAtOnce(descriptor)
        return descriptor
    }

    /// A connection; `nil` when nobody listens. Loopback connections are made or refused without waiting.
    static func connect(to port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = ProxySocket.address(port: port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, length) }
        }
        guard code == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        ProxySocket.makeNonBlocking(descriptor)
        ProxySocket.sendAtOnce(descriptor)
        return descriptor
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func makeNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    // Nagle's algorithm would put split bytes together again.
    private static func sendAtOnce(_ descriptor: Int32) {
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }
}
