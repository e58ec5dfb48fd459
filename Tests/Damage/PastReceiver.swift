import Foundation
import KiiPushCore
import TestSupport

/// An installation.
struct PastReceiver: Sendable {
    let name: String
    /// Whether alerts are shown to the user.
    let shows: Bool
    /// Whether some payloads take pages of their own. Of a receiver that does not run any more nobody would read them, and so
    /// nobody would meet their damage.
    let hasLargePayloads: Bool
    let installationID = UUID().uuidString

    init(_ name: String, shows: Bool = false, hasLargePayloads: Bool = true) {
        self.name = name
        self.shows = shows
        self.hasLargePayloads = hasLargePayloads
    }

    /// A message for it.
    func packet(_ number: Int) -> MQTTPacket {
        PastMessages.packet(
            number, topic: self.name, fate: Fate(number, shows: self.shows),
            isLarge: self.hasLargePayloads && number % 16 == 0)
    }

    /// Makes it an agent of this state directory.
    ///
    /// - Parameter port: a broker's.
    func register(in directory: String, port: UInt16) throws {
        let endpoint = MQTTEndpoint(
            installationID: self.installationID, host: "127.0.0.1", portTCP: port, portSSL: nil,
            mqttTopic: self.name, username: "name", password: "password")
        try AgentStateFixture(endpoint: endpoint).write(to: directory, name: self.name, user: self.name)
    }

    func agent(
        on runtime: PushRuntime, _ handler: some NotificationHandler, _ presenter: RecordingPresenter
    ) -> PushAgent {
        var configuration = PushAgent.Configuration(name: self.name, app: AgentStateFixture.app, account: .pseudoUser)
        configuration.usesTLS = false
        return PushAgent(
            runtime: runtime, configuration: configuration, handler: handler,
            lifecycle: self.shows ? AgentLifecycle(state: .background) : nil,
            presenter: self.shows ? presenter : nil, reconnect: .quick)
    }
}

/// Runs all of them while `body` does.
func whileAllRun(
    _ agents: ArraySlice<PushAgent>, _ body: @escaping @Sendable () async throws -> Void
) async throws {
    guard let first = agents.first else { return try await body() }
    try await whileRunning(first) { try await whileAllRun(agents.dropFirst(), body) }
}
