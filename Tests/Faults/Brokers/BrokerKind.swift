import TestSupport

package enum BrokerKind: String, Sendable, Hashable, CaseIterable {
    case mosquitto
    case rabbitmq
    case nats

    package var title: String {
        switch self {
        case .mosquitto: "mosquitto"
        case .rabbitmq: "RabbitMQ"
        case .nats: "NATS"
        }
    }

    private var package: String {
        switch self {
        case .mosquitto: "mosquitto"
        case .rabbitmq: "rabbitmq-server"
        case .nats: "nats-server"
        }
    }

    /// The installed version, without Debian's revision.
    package func version() async throws -> String {
        let query = try await ForeignProgram("dpkg-query", "-W", "-f", "${Version}", self.package).run()
        guard query.status == 0 else { throw TestFailure("\(self.package) is not installed; run script/brokers") }
        return String(query.output.prefix { $0 != "-" })
    }
}
