import KiiPushCommandLine
import KiiPushCore

/// The connection state of an agent, for the service manager and ``OfflineLimit``. Events update it on the thread where
/// they happen, so that a slow reader of the output does not delay it.
final class RunStatus: Sendable {
    struct Connection: Sendable, Hashable {
        enum State: String, Sendable { case starting, connected, offline }

        var state = State.starting
        var since = Timestamp.now()
        var text = "Starting."

        var json: JSONValue {
            JSONValue.object(present: ["state": self.state.rawValue, "since": self.since, "text": self.text])
        }
    }

    private let installationID: String
    private let notifier: ServiceNotifier
    private let offline: OfflineLimit
    private let state = Locked(Connection())

    init(installationID: String, notifier: ServiceNotifier, offline: OfflineLimit) {
        (self.installationID, self.notifier, self.offline) = (installationID, notifier, offline)
    }

    var connection: Connection { self.state.withLock { $0 } }

    func observe(_ event: PushEvent) {
        switch event {
        case .connected(let connection):
            let text = Console.text(of: connection, installationID: self.installationID)
            self.state.withLock { $0 = Connection(state: .connected, text: text) }
            self.offline.clear()
            self.notifier.connected(text)
        case .disconnected(let reason, let retryIn):
            let text = "offline: \(reason.terminalSafe); retry in \(retryIn.text)"
            self.state.withLock { state in
                if state.state != .offline { state = Connection(state: .offline) }
                state.text = text
            }
            self.offline.offline()
            self.notifier.offline(text, retryIn: retryIn)
        default: break
        }
    }
}
