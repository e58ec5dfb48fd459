/// Hears of all that passes through a proxy, on the proxy's thread.
package protocol ProxyObserver: Sendable {
    /// A connection was taken; returns the number that it is known by.
    func connected() -> Int
    /// A connection was reset as soon as it was made.
    func refused()
    /// A packet came. The observer may change it before anything else happens to it.
    func received(_ packet: inout ProxyPacket, _ direction: Direction)
    /// A packet reaches the other side `copies` times.
    func passed(_ packet: ProxyPacket, _ direction: Direction, connection: Int, copies: Int)
    /// A client's WebSocket was refused, or the client ended it.
    func ended(_ webSocket: EndedWebSocket)
    /// A connection has ended: by the proxy's cut, or by the broker or the receiver.
    func ended(_ connection: Int, byCut: Bool)
}

extension ProxyObserver {
    package func refused() {}
    package func received(_ packet: inout ProxyPacket, _ direction: Direction) {}
    package func ended(_ webSocket: EndedWebSocket) {}
}
