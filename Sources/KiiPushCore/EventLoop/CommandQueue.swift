final class CommandQueue: Sendable {
    typealias Command = @Sendable () -> Void

    private struct State {
        var commands: [Command] = []
        var isAsleep = false
        var isOpen = true
    }

    private let state = Locked(State())
    private let waker: Waker

    init(waker: Waker) { self.waker = waker }

    func append(_ command: @escaping Command) -> Bool {
        self.state.withLock { state in
            guard state.isOpen else { return false }
            state.commands.append(command)
            self.wake(&state)
            return true
        }
    }

    func close() {
        self.state.withLock { state in
            guard state.isOpen else { return }
            state.isOpen = false
            self.wake(&state)
        }
    }

    /// Returns whether the queue is open. `commands` must be empty; its capacity is reused.
    func take(_ commands: inout [Command]) -> Bool {
        var taken = commands
        commands = []
        let isOpen = self.state.withLock { state in
            swap(&state.commands, &taken)
            state.isAsleep = false
            return state.isOpen
        }
        commands = taken
        return isOpen
    }

    /// If this returns `true`, the next ``append(_:)`` or ``close()`` wakes the loop.
    func prepareToSleep() -> Bool {
        self.state.withLock { state in
            state.isAsleep = state.commands.isEmpty && state.isOpen
            return state.isAsleep
        }
    }

    // One wake-up for each sleep: a wake-up costs more than the rest of an append.
    private func wake(_ state: inout State) {
        guard state.isAsleep else { return }
        state.isAsleep = false
        self.waker.wakeUp()
    }
}
