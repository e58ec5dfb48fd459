extension BrokerLink {
    package struct Target: Sendable {
        let endpoint: MQTTEndpoint
        let usesTLS: Bool
        let usesWebSocket: Bool
        let port: UInt16

        package init(_ endpoint: MQTTEndpoint, usesTLS: Bool, usesWebSocket: Bool = false) throws(PushAgentError) {
            guard let port = endpoint.port(usesTLS: usesTLS, usesWebSocket: usesWebSocket) else {
                throw .noUsablePort(usesTLS: usesTLS, usesWebSocket: usesWebSocket)
            }
            self.endpoint = endpoint
            self.usesTLS = usesTLS
            self.usesWebSocket = usesWebSocket
            self.port = port
        }

        var bare: StreamTarget { .tcp(host: self.endpoint.host, port: self.port) }

        var stream: StreamTarget {
            let host = self.endpoint.host
            if self.usesWebSocket { return .webSocket(host: host, port: self.port, usesTLS: self.usesTLS) }
            return self.usesTLS ? .tls(host: host, port: self.port) : .tcp(host: host, port: self.port)
        }
    }
}
