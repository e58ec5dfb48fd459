import Glibc
import KiiPushCore

/// TCP sockets on 127.0.0.1, as the proxy needs them.
enum ProxySocket {
    /// The next connection; `nil` when there is none.
    static func accept(_ listener: FileDescriptor) -> FileDescriptor? {
        let socket = listener.accept()
        // Nagle's algorithm would put split bytes together again.
        var one: Int32 = 1
        if let socket {
            setsockopt(socket.number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        }
        return socket
    }

    /// A connection; `nil` when nobody listens. Loopback connections are made or refused without waiting.
    static func connect(to port: UInt16) -> FileDescriptor? {
        // Without a socket to spare nobody is connected, as when nobody listens.
        let socket = (try? LoopbackSocket.connected(to: port)) ?? nil
        socket?.makeNonBlocking()
        return socket
    }
}
