/// A value that one task awaits and several callers may deliver, such as an answer and a timeout. The first delivery
/// counts.
package final class OneShot<Value: Sendable>: Sendable {
    package init() {}

    private enum State {
        case pending
        case waiting(CheckedContinuation<Value, Never>)
        case resumed(Value)
        case finished
    }

    private let state = Locked<State>(.pending)

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

    package func value(onCancel substitute: Value) async -> Value {
        await withTaskCancellationHandler {
            await self.value()
        } onCancel: {
            self.resume(substitute)
        }
    }

    /// - Returns: `true` for the first call. Later calls have no effect.
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
