package import KiiPushCore

package struct ReceiverKind: Sendable {
    package let name: String
    /// Whether lost messages are a failure of this project.
    package let isOurs: Bool
    /// Limit of the time without progress, after which missing messages count as lost.
    package let patience: Duration
    package var qos: QoS = .atLeastOnce
    package let make: @Sendable (FaultBench) -> any Receiver

    /// This project's agent.
    package static func agent(_ settings: AgentReceiver.Settings = .init()) -> ReceiverKind {
        ReceiverKind(
            name: settings.title, isOurs: true,
            // Longer than any retry of the scenarios, and than any pause of a busy machine.
            patience: .seconds(120)
        ) { bench in bench.agent(settings) }
    }

    /// Another MQTT client; see ``PeerReceiver``.
    package static func peer(
        _ name: String, program: String, arguments: [String] = [], qos: QoS = .atLeastOnce,
        patience: Duration = .seconds(10)
    ) -> ReceiverKind {
        ReceiverKind(name: name, isOurs: false, patience: patience, qos: qos) { bench in
            PeerReceiver(
                name: name, program: program, arguments: arguments, endpoint: bench.endpoint,
                directory: bench.directory)
        }
    }
}
