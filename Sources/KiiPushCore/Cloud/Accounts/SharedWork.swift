/// One piece of work for several tasks. The first task does the work, and the others wait for its result. If
/// cancellation ends the work, a waiting task takes over. After any other error, all waiting tasks fail.
final class SharedWork<Value: Sendable>: Sendable {
    private enum Turn: Sendable {
        case work
        case done(Value)
        case failed(any Error)
        case cancelled
    }

    private struct State {
        var isRunning = false
        var waiting: [OneShot<Turn>] = []
    }

    private let state = Locked(State())

    /// Shares the result of `work`, which must not call this function.
    func result(of work: () async throws -> Value) async throws -> Value {
        switch await self.turn() {
        case .done(let value): return value
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        case .work:
            do {
                let value = try await work()
                self.finish(.done(value))
                return value
            } catch {
                if error is CancellationError || Task.isCancelled {
                    self.handOver()
                } else {
                    self.finish(.failed(error))
                }
                throw error
            }
        }
    }

    private func turn() async -> Turn {
        let turn = OneShot<Turn>()
        let isFirst = self.state.withLock { state -> Bool in
            if state.isRunning { state.waiting.append(turn) }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { return .work }
        return await turn.value(onCancel: .cancelled)
    }

    private func finish(_ turn: Turn) {
        let waiting = self.state.withLock { state -> [OneShot<Turn>] in
            defer { state = State() }
            return state.waiting
        }
        for one in waiting { one.resume(turn) }
    }

    private func handOver() {
        while true {
            let next = self.state.withLock { state -> OneShot<Turn>? in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.isRunning = false
                return nil
            }
            // Skips tasks that were cancelled while they waited.
            guard let next, !next.resume(.work) else { return }
        }
    }
}
