import KiiPushCore

/// Counts the requests that were taken and whose answers are not sent to the last byte.
final class UnansweredRequests: Sendable {
    private struct State: Sendable {
        var count = 0
        /// Whether there was a moment without any since somebody waits for one.
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

    /// Blocks until there was a moment without any, or until `patience` is over. Called once.
    func waitUntilNone(patience: Duration) {
        let deadline = MonotonicInstant.now() + patience
        self.state.withLock { $0.wasNone = $0.count == 0 }
        self.state.wait { state in
            state.wasNone || deadline <= .now() ? .leave(()) : .sleep(until: deadline)
        }
    }
}
