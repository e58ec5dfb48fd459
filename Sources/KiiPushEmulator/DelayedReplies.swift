import KiiPushCore

/// Answers that are given later than they could be, because a fault says so.
final class DelayedReplies: Sendable {
    private struct State {
        var waiting: [Int: (give: @Sendable () -> Void, task: Task<Void, Never>)] = [:]
        var nextID = 0
        var isStopped = false
    }

    private let state = Locked(State())

    /// Calls `give` after `delay`, or as soon as this is stopped; at once without a delay. After a delay `give` needs a
    /// thread of the cooperative pool, and is late where all of them are blocked.
    func after(_ delay: Duration, _ give: @escaping @Sendable () -> Void) {
        let isDelayed = self.state.withLock { state in
            guard delay > .zero, !state.isStopped else { return false }
            state.nextID += 1
            let id = state.nextID
            let task = Task {
                // Only `stop` cancels it, and has given the reply by then.
                try? await Task.sleep(for: delay, clock: .suspending)
                // Within the lock: once this is stopped, no reply is on its way. A reply only takes note of things.
                self.state.withLock { $0.waiting.removeValue(forKey: id)?.give() }
            }
            state.waiting[id] = (give, task)
            return true
        }
        if !isDelayed { give() }
    }

    /// Gives what waits. From then on nothing is delayed.
    func stop() {
        self.state.withLock { state in
            state.isStopped = true
            for reply in state.waiting.values {
                reply.give()
                reply.task.cancel()
            }
            state.waiting = [:]
        }
    }
}
