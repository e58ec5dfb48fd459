import Glibc
import TestSupport

/// TCP sockets on 127.0.0.1, as the proxy needs them.
enum ProxySocket {
    /// A listener on a port that is free.
    static func listen() throws -> (descriptor: Int32, port: UInt16) {
        let socket = try Loopback.listening()
        ProxySocket.makeNonBlocking(socket.descriptor)
        return socket
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
        guard let descriptor = Loopback.connected(to: port) else { return nil }
        ProxySocket.makeNonBlocking(descriptor)
        ProxySocket.sendAtOnce(descriptor)
        return descriptor
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
