/// A continuation that may be resumed from several sides, such as an answer and a deadline, the first of which wins.
package final class OneShot<Value: Sendable>: Sendable {
    package init() {}

    private enum State {
        case pending
        case waiting(CheckedContinuation<Value, Never>)
        case resumed(Value)
        case finished
    }

    private let state = Locked<State>(.pending)

    /// Waits for the first ``resume(_:)``, which may have been before. Called once.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let early: Value? = self.state.withLock { state in
                guard case .resumed(let value) = state else {
                    state = .waiting(continuation)
                    return nil
                }
                state = .finished
                return value
            }
            if let early { continuation.resume(returning: early) }
        }
    }

    /// Waits as ``value()`` does; for `substitute` where the task is cancelled first.
    package func value(onCancel substitute: Value) async -> Value {
        await withTaskCancellationHandler {
            await self.value()
        } onCancel: {
            self.resume(substitute)
        }
    }

    /// Gives the value; every call but the first does nothing.
    ///
    /// - Returns: whether this call was the first, so that the value arrives.
    @discardableResult
    package func resume(_ value: Value) -> Bool {
        let (isFirst, continuation) = self.state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
            switch state {
            case .pending:
                state = .resumed(value)
                return (true, nil)
            case .waiting(let continuation):
                state = .finished
                return (true, continuation)
            case .resumed, .finished: return (false, nil)
            }
        }
        continuation?.resume(returning: value)
        return isFirst
    }
}
