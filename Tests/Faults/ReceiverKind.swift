package import KiiPushCore

/// A client that scenarios can be played with.
package struct ReceiverKind: Sendable {
    package let name: String
    /// Whether lost messages are a failure of this project.
    package let isOurs: Bool
    /// How long nothing may happen until the rest is taken for lost.
    package let patience: Duration
    /// What it subscribes with.
    package var qos: QoS = .atLeastOnce
    package let make: @Sendable (FaultBench) -> any Receiver

    /// Our agent.
    package static func agent(_ settings: AgentReceiver.Settings = .init()) -> ReceiverKind {
        ReceiverKind(
            name: settings.title, isOurs: true,
            // Longer than any retry of the scenarios, and than a busy machine stands still.
            patience: .seconds(120)
        ) { bench in bench.agent(settings) }
    }

    /// A usual client; see ``PeerReceiver``.
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
