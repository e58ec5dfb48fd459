extension BrokerLink {
    package struct Target: Sendable {
        let endpoint: MQTTEndpoint
        let usesTLS: Bool
        let port: UInt16

        package init(_ endpoint: MQTTEndpoint, usesTLS: Bool) throws(PushAgentError) {
            guard let port = endpoint.port(usesTLS: usesTLS) else { throw .noUsablePort(usesTLS: usesTLS) }
            self.endpoint = endpoint
            self.usesTLS = usesTLS
            self.port = port
        }

        /// The same place without TLS and MQTT.
        var bare: StreamTarget { .tcp(host: self.endpoint.host, port: self.port) }

        var stream: StreamTarget {
            self.usesTLS
                ? .tls(host: self.endpoint.host, port: self.port) : .tcp(host: self.endpoint.host, port: self.port)
        }
    }
}
