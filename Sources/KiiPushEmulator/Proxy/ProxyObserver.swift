/// The observer of a proxy's events. Its methods run on the proxy's thread.
package protocol ProxyObserver: Sendable {
    /// Returns the number of a new connection.
    func connected() -> Int
    /// The proxy reset a new connection at once.
    func refused()
    /// A packet came. The observer may change it before the proxy does anything with it.
    func received(_ packet: inout ProxyPacket, _ direction: Direction)
    /// A packet reaches the other side `copies` times.
    func passed(_ packet: ProxyPacket, _ direction: Direction, connection: Int, copies: Int)
    /// A client's WebSocket was refused, or the client ended it.
    func ended(_ webSocket: EndedWebSocket)
    /// A connection has ended, either cut by the proxy or closed by the broker or the receiver.
    func ended(_ connection: Int, byCut: Bool)
}

extension ProxyObserver {
    package func refused() {}
    package func received(_ packet: inout ProxyPacket, _ direction: Direction) {}
    package func ended(_ webSocket: EndedWebSocket) {}
}
