import Glibc

/// TCP sockets on 127.0.0.1, as the proxy needs them.
enum ProxySocket {
    /// The next connection; `nil` when there is none.
    static func accept(_ listener: Int32) -> Int32? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        ProxySocket.makeNonBlocking(descriptor)
        // Nagle's algorithm would put split bytes together again.
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    /// A connection; `nil` when nobody listens. Loopback connections are made or refused without waiting.
    static func connect(to port: UInt16) -> Int32? {
        // Without a socket to spare nobody is connected, as when nobody listens.
        guard let socket = try? LoopbackSocket.connected(to: port) else { return nil }
        let descriptor = socket.release()
        ProxySocket.makeNonBlocking(descriptor)
        return descriptor
    }

    static func makeNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
}
