/// The methods run on the proxy's thread.
package protocol ProxyObserver: Sendable {
    /// Returns the number of a new connection.
    func connected() -> Int
    /// The proxy reset a new connection at once.
    func refused()
    /// A packet came. The observer may change it before any rule applies.
    func received(_ packet: inout ProxyPacket, _ direction: Direction)
    /// The proxy sends a packet to the other side `copies` times; 0 if a rule drops the packet.
    func passed(_ packet: ProxyPacket, _ direction: Direction, connection: Int, copies: Int)
    func ended(_ webSocket: EndedWebSocket)
    /// A connection has ended: the proxy cut it, or the broker or the receiver closed it.
    func ended(_ connection: Int, byCut: Bool)
}

extension ProxyObserver {
    package func refused() {}
    package func received(_ packet: inout ProxyPacket, _ direction: Direction) {}
    package func ended(_ webSocket: EndedWebSocket) {}
}
