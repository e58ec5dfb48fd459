import Glibc
import KiiPushCore

/// Counts the requests that were taken and whose answers are not sent to the last byte.
final class UnansweredRequests: Sendable {
    private struct State {
        var count = 0
        var isAwaited = false
    }

    private let state = Locked(State())
    private let none: Mailbox<Void>

    init() throws(EmulatorError) { self.none = try Mailbox() }

    func add() { self.state.withLock { $0.count += 1 } }

    func remove() {
        let isAwaited = self.state.withLock { state in
            state.count -= 1
            return state.isAwaited && state.count == 0
        }
        if isAwaited { _ = self.none.post(()) }
    }

    /// Blocks until there was a moment without any, or until `patience` is over. Called once.
    func waitUntilNone(patience: Duration) {
        let isNone = self.state.withLock { state in
            state.isAwaited = true
            return state.count == 0
        }
        guard !isNone else { return }
        let deadline = MonotonicInstant.now() + patience
        var entry = pollfd(fd: self.none.descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, deadline.millisecondsLeft) < 0 {
            guard errno == EINTR else { return }
        }
    }
}
