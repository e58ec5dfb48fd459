import Glibc
import KiiPushCore

final class ProxySocket {
    private let socket: FileDescriptor
    private let tls: TLSSession?

    private init(_ socket: FileDescriptor, tls: TLSSession? = nil) {
        self.socket = socket
        self.tls = tls
    }

    static func accept(_ listener: ProxyListener) -> ProxySocket? {
        guard let socket = listener.socket.accept() else { return nil }
        // With Nagle's algorithm, the kernel would join bytes that the proxy sends separately.
        var one: Int32 = 1
        setsockopt(socket.number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        guard let identity = listener.identity else { return ProxySocket(socket) }
        return TLSSession(identity, on: socket).map { ProxySocket(socket, tls: $0) }
    }

    /// Returns `nil` if the broker does not listen. On the loopback interface, connect(2) usually does not wait.
    static func connect(to port: UInt16, for transport: BrokerTransport) -> ProxySocket? {
        // If the system provides no socket, the proxy behaves as if the broker did not listen.
        let socket = (try? LoopbackSocket.connected(to: port, from: transport.proxyAddress)) ?? nil
        socket?.makeNonBlocking()
        return socket.map { ProxySocket($0) }
    }

    var descriptor: Int32 { self.socket.number }

    var failure: String? { self.tls?.failure }

    /// Returns the number of bytes read; 0 at the end; -1 with the reason in `errno`.
    func receive(into buffer: inout [UInt8]) -> Int {
        self.tls?.receive(into: &buffer) ?? self.socket.receive(into: &buffer)
    }

    func send(_ bytes: ArraySlice<UInt8>) -> Int { self.tls?.send(bytes) ?? self.socket.send(bytes) }

    func resetAtEnd() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.socket.number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Ends the sending side. `closing` keeps the socket open until the client has closed too.
    func leave(to closing: ClosingConnections) {
        self.tls?.end()
        closing.take(self.socket.number)
    }
}

package struct ProxyListener: Sendable {
    let transport: BrokerTransport
    let socket: FileDescriptor
    let identity: TLSIdentity?

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
