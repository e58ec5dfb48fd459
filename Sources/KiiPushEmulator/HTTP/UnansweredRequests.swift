import KiiPushCore

/// Counts the handled requests whose answers have not been sent completely.
final class UnansweredRequests: Sendable {
    private struct State: Sendable {
        var count = 0
        var wasNone = false
    }

    private let state = Monitor(State())

    func add() { self.state.withLock { $0.count += 1 } }

    func remove() {
        self.state.withLock { state in
            state.count -= 1
            state.wasNone = state.wasNone || state.count == 0
        }
        self.state.signal()
    }

    /// Blocks until the count reaches 0, or for at most `patience`. Call this once.
    func waitUntilNone(patience: Duration) {
        let deadline = MonotonicInstant.now() + patience
        self.state.withLock { $0.wasNone = $0.count == 0 }
        self.state.wait { state in
            state.wasNone || deadline <= .now() ? .leave(()) : .sleep(until: deadline)
        }
    }
}
