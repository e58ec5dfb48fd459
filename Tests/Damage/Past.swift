import Foundation
import KiiPushCore
import TestSupport

package struct Past: Sendable {
    struct Message: Sendable {
        var number: Int
        /// `nil`: a person dropped the message.
        var standing: MessageRecord.Standing?
        var payload: String
    }

    struct Snapshot: Sendable {
        var files: InboxFiles
        var messages: [Int64: Message]

        var settled: Set<Int64> {
            Set(self.messages.filter { $0.value.standing == .done || $0.value.standing == nil }.keys)
        }
    }

    /// The state halfway, for damages that bring back an older copy.
    let older: Snapshot
    /// The state before the last messages. The log contains the last messages only.
    let beforeLog: Snapshot
    let killed: Snapshot
    let stopped: Snapshot
    package let acknowledged: Int
    let receivers: [PastReceiver]
    /// The ``Message/number`` of each message for the receiver that no longer runs.
    let strandedMessages: Set<Int>

    package var size: (pages: Int, frames: Int) { (self.stopped.files.pages, self.killed.files.frames) }

    func files(at moment: Damage.Moment) -> InboxFiles { self.snapshot(at: moment).files }

    func snapshot(at moment: Damage.Moment) -> Snapshot {
        switch moment {
        case .afterStop, .whileOpen: self.stopped
        case .afterKill: self.killed
        }
    }
}

struct PastReceiver: Sendable {
    let name: String
    let shows: Bool
    /// Whether some payloads fill pages of their own. `false` for a receiver that no longer runs: no agent would read
    /// the pages and meet their damage.
    let hasLargePayloads: Bool
    let installationID = UUID().uuidString

    init(_ name: String, shows: Bool = false, hasLargePayloads: Bool = true) {
        self.name = name
        self.shows = shows
        self.hasLargePayloads = hasLargePayloads
    }

    func packet(_ number: Int) -> MQTTPacket {
        PastMessages.packet(
            number, topic: self.name, fate: Fate(number, shows: self.shows),
            isLarge: self.hasLargePayloads && number % 16 == 0)
    }

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
