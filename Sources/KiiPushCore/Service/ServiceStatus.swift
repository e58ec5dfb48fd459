final class ServiceStatus: Sendable {
    private struct State {
        var starting: Set<Int>
        var troubles: [Int: String] = [:]

        func text(of count: Int) -> String {
            let missing = self.starting.union(self.troubles.keys).count
            guard missing > 0 else { return "Connected." }
            let trouble = self.troubles.min { $0.key < $1.key }.map { "offline: \($0.value)" } ?? "Starting."
            return count == 1 ? trouble : "\(missing) of \(count) agents are not connected. \(trouble)"
        }
    }

    private let notifier: ServiceNotifier
    private let count: Int
    private let state: Locked<State>

    init(_ notifier: ServiceNotifier, agentCount: Int) {
        (self.notifier, self.count) = (notifier, agentCount)
        self.state = Locked(State(starting: Set(0..<agentCount)))
    }

    var text: String { self.state.withLock { $0.text(of: self.count) } }

    func observe(_ event: PushEvent, of index: Int) {
        switch event {
        // Sent under the lock, so that systemd receives the statuses in order.
        case .connected:
            self.state.withLock { state in
                state.starting.remove(index)
                state.troubles[index] = nil
                let text = state.text(of: self.count)
                if state.starting.isEmpty { self.notifier.connected(text) } else { self.notifier.status(text) }
            }
        case .disconnected(let reason, let retryIn):
            self.state.withLock { state in
                state.troubles[index] = "\(reason); retry in \(retryIn.text)"
                self.notifier.offline(state.text(of: self.count), retryIn: retryIn)
            }
        default: break
        }
    }
}
