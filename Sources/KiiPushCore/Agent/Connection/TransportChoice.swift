extension PushAgent {
    /// The transport between the agent and the broker.
    public enum Transport: String, Sendable, Hashable, CaseIterable {
        /// TCP or WebSocket, with or without TLS. The agent begins with the transport of its last connection, at first
        /// TCP. After three attempts in a row that do not reach the broker (one in ``PushAgent/register(replacing:)``),
        /// the agent uses the endpoint's port for WebSocket, if there is one. After one such attempt over WebSocket,
        /// the agent uses TCP again.
        case automatic
        /// Only TCP, with or without TLS.
        case tcp
        /// Only WebSocket, with or without TLS, for networks that allow only web traffic.
        case webSocket
    }
}

struct TransportChoice: Sendable {
    private static let attempts = 3

    private let transport: PushAgent.Transport
    private let usesTLS: Bool
    private var prefersWebSocket: Bool
    private var unreached = 0

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

    /// Notes the end of a connection to this endpoint.
    ///
    /// - Parameter wasReached: whether the broker answered; `nil` if the attempt says nothing about the port.
    mutating func ended(at endpoint: MQTTEndpoint, wasReached: Bool?) {
        guard let wasReached else { return }
        self.unreached = wasReached ? 0 : self.unreached + 1
        guard self.unreached >= (self.usesWebSocket(at: endpoint) ? 1 : Self.attempts) else { return }
        _ = self.turn(at: endpoint)
    }

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
