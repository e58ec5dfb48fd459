import Foundation
import KiiPushCore
import TestSupport

/// What agents have received and done before their inbox is damaged.
package struct Past: Sendable {
    /// A message as the sound inbox knows it.
    struct Message: Sendable {
        var number: Int
        /// `nil` of one that was dropped.
        var standing: MessageRecord.Standing?
        var payload: String
    }

    /// Files, and what an undamaged inbox with them holds, by the messages' numbers in it.
    struct Snapshot: Sendable {
        var files: InboxFiles
        var messages: [Int64: Message]

        /// The messages that nobody has to care about any more.
        var settled: Set<Int64> {
            Set(self.messages.filter { $0.value.standing == .done || $0.value.standing == nil }.keys)
        }
    }

    /// Halfway: the older copy.
    let older: Snapshot
    /// Before the last messages came: what a file holds without its log.
    let beforeLog: Snapshot
    let killed: Snapshot
    let stopped: Snapshot
    /// How many messages were acknowledged.
    package let acknowledged: Int
    let receivers: [PastReceiver]

    /// How many pages the file has after the clean stop, and how many frames the log after the kill.
    package var size: (pages: Int, frames: Int) { (self.stopped.files.pages, self.killed.files.frames) }

    func files(at moment: Damage.Moment) -> InboxFiles { self.snapshot(at: moment).files }

    func snapshot(at moment: Damage.Moment) -> Snapshot {
        switch moment {
        case .afterStop, .whileOpen: self.stopped
        case .afterKill: self.killed
        }
    }
}

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
