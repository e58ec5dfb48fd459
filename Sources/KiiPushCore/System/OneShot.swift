/// A continuation that several callers may resume, such as an answer and a deadline; the first one wins.
package final class OneShot<Value: Sendable>: Sendable {
    package init() {}

    private enum State {
        case pending
        case waiting(CheckedContinuation<Value, Never>)
        case resumed(Value)
        case finished
    }

    private let state = Locked<State>(.pending)

    /// Waits for the first ``resume(_:)``, which may have come before. Call it once.
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

    /// Waits like ``value()``; returns `substitute` if the task is cancelled first.
    package func value(onCancel substitute: Value) async -> Value {
        await withTaskCancellationHandler {
            await self.value()
        } onCancel: {
            self.resume(substitute)
        }
    }

    /// Delivers the value; only the first call has an effect.
    ///
    /// - Returns: whether this call was the first.
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
