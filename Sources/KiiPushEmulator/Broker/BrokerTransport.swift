package enum BrokerTransport: String, Sendable, Hashable, CaseIterable {
    case tcp
    case tls
    case webSocket = "ws"
    case webSocketTLS = "wss"

    package var text: String {
        switch self {
        case .tcp: "TCP"
        case .tls: "TLS"
        case .webSocket: "WebSocket"
        case .webSocketTLS: "WebSocket with TLS"
        }
    }

    var isWebSocket: Bool { self == .webSocket || self == .webSocketTLS }

    /// The local address of the proxy's connections to the broker. The WebSocket transports have their own addresses,
    /// so the broker's log shows them. All of 127.0.0.0/8 is this machine (RFC 1122 section 3.2.1.3).
    var proxyAddress: UInt32 {
        switch self {
        case .tcp, .tls: LoopbackSocket.address
        case .webSocket: 0x7f00_0002
        case .webSocketTLS: 0x7f00_0003
        }
    }

    init(address: Substring, isTLS: Bool) {
        let webSockets: [Substring: BrokerTransport] = ["127.0.0.2": .webSocket, "127.0.0.3": .webSocketTLS]
        self = webSockets[address.prefix { $0 != ":" }] ?? (isTLS ? .tls : .tcp)
    }
}
