import KiiPushCommandLine
import KiiPushCore

/// The connection state of an agent, for the service manager and for `--exit-when-offline`. Events update it on the
/// thread where they happen, so that a slow reader of the output does not delay it.
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
    private let limit: Duration?
    private let whenReached: @Sendable () -> Void
    private let state = Locked(Connection())
    private let waiting = Locked<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - limit: the longest time without a connection. Time in which the machine sleeps does not count.
    ///   - whenReached: called when the limit is reached.
    init(
        installationID: String, notifier: ServiceNotifier, limit: Duration?, whenReached: @escaping @Sendable () -> Void
    ) {
        (self.installationID, self.notifier) = (installationID, notifier)
        (self.limit, self.whenReached) = (limit, whenReached)
    }

    deinit { self.endWait() }

    var connection: Connection { self.state.withLock { $0 } }

    func observe(_ event: PushEvent) {
        switch event {
        case .connected(let connection):
            let text = Console.text(of: connection, installationID: self.installationID)
            self.state.withLock { $0 = Connection(state: .connected, text: text) }
            self.endWait()
            self.notifier.connected(text)
        case .disconnected(let reason, let retryIn):
            let text = "offline: \(reason.terminalSafe); retry in \(retryIn.text)"
            self.state.withLock { state in
                if state.state != .offline { state = Connection(state: .offline) }
                state.text = text
            }
            self.wait()
            self.notifier.offline(text, retryIn: retryIn)
        default: break
        }
    }

    /// Begins to wait for a connection, unless it does already.
    func wait() {
        guard let limit = self.limit else { return }
        self.waiting.withLock { waiting in
            guard waiting == nil else { return }
            waiting = Task { [whenReached] in
                try? await Task.sleep(for: limit, clock: SuspendingClock())
                if !Task.isCancelled { whenReached() }
            }
        }
    }

    func endWait() { self.waiting.withLock { $0.take() }?.cancel() }
}
