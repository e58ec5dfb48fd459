import Glibc
import KiiPushCore

/// A TCP connection of the proxy on 127.0.0.1, with TLS or without.
final class ProxySocket {
    private let socket: FileDescriptor
    private let tls: TLSSession?

    private init(_ socket: FileDescriptor, tls: TLSSession? = nil) {
        self.socket = socket
        self.tls = tls
    }

    /// The next connection; `nil` when there is none.
    static func accept(_ listener: ProxyListener) -> ProxySocket? {
        guard let socket = listener.socket.accept() else { return nil }
        // Nagle's algorithm would put split bytes together again.
        var one: Int32 = 1
        setsockopt(socket.number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        guard let identity = listener.identity else { return ProxySocket(socket) }
        return TLSSession(identity, on: socket).map { ProxySocket(socket, tls: $0) }
    }

    /// A connection; `nil` when nobody listens. Loopback connections are made or refused without waiting.
    ///
    /// - Parameter transport: the client's transport. The broker's log shows it by the address.
    static func connect(to port: UInt16, for transport: BrokerTransport) -> ProxySocket? {
        // Without a spare socket the result is the same as when nobody listens.
        let socket = (try? LoopbackSocket.connected(to: port, from: transport.proxyAddress)) ?? nil
        socket?.makeNonBlocking()
        return socket.map { ProxySocket($0) }
    }

    var descriptor: Int32 { self.socket.number }

    /// Why the TLS handshake failed; `nil` if it did not.
    var failure: String? { self.tls?.failure }

    /// Returns the number of bytes read; 0 at the end; -1 with the reason in `errno`.
    func receive(into buffer: inout [UInt8]) -> Int {
        self.tls?.receive(into: &buffer) ?? self.socket.receive(into: &buffer)
    }

    /// Returns the number of bytes sent; -1 with the reason in `errno`.
    func send(_ bytes: ArraySlice<UInt8>) -> Int { self.tls?.send(bytes) ?? self.socket.send(bytes) }

    /// Makes a close drop the bytes in flight (RST).
    func resetAtEnd() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.socket.number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Ends the sending side, and has `closing` wait until the client has read that.
    func leave(to closing: ClosingConnections) {
        self.tls?.end()
        closing.take(self.socket.number)
    }
}

/// A listening socket of the proxy.
package struct ProxyListener: Sendable {
    let transport: BrokerTransport
    let socket: FileDescriptor
    /// For TLS between client and proxy.
    let identity: TLSIdentity?

    /// - Parameter port: the required port; 0 takes `preferred` if it is free, else any.
    init(
        _ transport: BrokerTransport, on port: UInt16, preferred: UInt16, identity: TLSIdentity? = nil
    ) throws(EmulatorError) {
        self.transport = transport
        self.socket = try LoopbackSocket.listener(on: port, preferred: preferred)
        self.socket.makeNonBlocking()
        self.identity = identity
    }

    var port: UInt16 { LoopbackSocket.port(of: self.socket) }
}
