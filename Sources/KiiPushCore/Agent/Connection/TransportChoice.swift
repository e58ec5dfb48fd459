extension PushAgent {
    /// The transport of MQTT to the broker.
    public enum Transport: String, Sendable, Hashable, CaseIterable {
        /// TCP, with or without TLS. After three attempts in a row that do not reach the broker, the agent takes the
        /// endpoint's port for WebSocket, if there is one. After one such attempt there, it goes back to TCP.
        case automatic
        /// TCP, with or without TLS, alone.
        case tcp
        /// WebSocket, with or without TLS, alone: for networks that let nothing but the web pass.
        case webSocket
    }
}

/// The choice among an endpoint's ports, from one connection to the next.
struct TransportChoice: Sendable {
    /// The number of attempts in a row by TCP that do not reach the broker before the agent takes the other port.
    private static let attempts = 3

    private let transport: PushAgent.Transport
    private let usesTLS: Bool
    /// Whether `automatic` uses WebSocket now.
    private var prefersWebSocket: Bool
    private var unreached = 0

    /// - Parameter remembersWebSocket: whether the last connection that stood was through a WebSocket.
    init(_ configuration: PushAgent.Configuration, remembersWebSocket: Bool) {
        self.transport = configuration.transport
        self.usesTLS = configuration.usesTLS
        self.prefersWebSocket = remembersWebSocket
    }

    func usesWebSocket(at endpoint: MQTTEndpoint) -> Bool {
        switch self.transport {
        case .tcp: return false
        case .webSocket: return true
        case .automatic:
            let other = endpoint.port(usesTLS: self.usesTLS, usesWebSocket: !self.prefersWebSocket)
            let isThere = endpoint.port(usesTLS: self.usesTLS, usesWebSocket: self.prefersWebSocket) != nil
            return isThere || other == nil ? self.prefersWebSocket : !self.prefersWebSocket
        }
    }

    func hasPort(at endpoint: MQTTEndpoint) -> Bool {
        endpoint.port(usesTLS: self.usesTLS, usesWebSocket: self.usesWebSocket(at: endpoint)) != nil
    }

    /// Notes that a connection to this endpoint has ended.
    ///
    /// - Parameter wasReached: whether the broker had answered; `nil` if the attempt says nothing about the port.
    mutating func ended(at endpoint: MQTTEndpoint, wasReached: Bool?) {
        guard let wasReached else { return }
        self.unreached = wasReached ? 0 : self.unreached + 1
        guard self.unreached >= (self.usesWebSocket(at: endpoint) ? 1 : Self.attempts) else { return }
        _ = self.turn(at: endpoint)
    }

    /// Takes the other port. Returns whether there is one.
    mutating func turn(at endpoint: MQTTEndpoint) -> Bool {
        guard self.transport == .automatic else { return false }
        let isWebSocket = self.usesWebSocket(at: endpoint)
        guard endpoint.port(usesTLS: self.usesTLS, usesWebSocket: !isWebSocket) != nil else { return false }
        self.prefersWebSocket = !isWebSocket
        self.unreached = 0
        return true
    }
}

extension MQTTEndpoint {
    func port(usesTLS: Bool, usesWebSocket: Bool) -> UInt16? {
        if usesWebSocket { return usesTLS ? self.portWSS : self.portWS }
        return usesTLS ? self.portSSL : self.portTCP
    }
}
