import Glibc

/// A value behind a lock, with a condition variable. Never call a callback inside ``withLock(_:)``.
package final class Monitor<State: Sendable>: Sendable {
    private struct Monitored {
        var state: State
        let condition = Condition()
    }

    private let monitored: Locked<Monitored>

    package init(_ initial: State) { self.monitored = Locked(Monitored(state: initial)) }

    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try self.monitored.withLock { monitored throws(Failure) in try body(&monitored.state) }
    }

    package func wait<Result: Sendable>(_ body: (inout State) -> WaitStep<Result>) -> Result {
        self.monitored.wait(for: { $0.condition.pointer }, { body(&$0.state) })
    }

    package func signal() { self.monitored.withLock { _ = pthread_cond_signal($0.condition.pointer) } }
    package func signalAll() { self.monitored.withLock { _ = pthread_cond_broadcast($0.condition.pointer) } }
}

/// A condition variable on the monotonic clock, so that a change of the calendar clock does not move a deadline.
private final class Condition {
    let pointer = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_condattr_t()
        let codes = [
            pthread_condattr_init(&attributes), pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC),
            pthread_cond_init(self.pointer, &attributes), pthread_condattr_destroy(&attributes),
        ]
        precondition(codes.allSatisfy { $0 == 0 }, "making a condition failed: \(codes)")
    }

    deinit {
        pthread_cond_destroy(self.pointer)
        self.pointer.deallocate()
    }
}
