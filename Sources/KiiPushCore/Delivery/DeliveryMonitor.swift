import Glibc

/// One lock around one value, and two conditions to wait for: work for the threads, and time for the timer.
///
/// As with ``Locked``: compute under the lock, act after it.
final class DeliveryMonitor<State: Sendable>: Sendable {
    private struct Monitored {
        var state: State
        let conditions: Conditions
    }

    private let monitored: Locked<Monitored>

    enum Condition: Int {
        case work = 0
        case time = 1
    }

    init(_ initial: State) {
        self.monitored = Locked(Monitored(state: initial, conditions: Conditions(count: 2)))
    }

    func withLock<Result>(_ body: (inout State) -> sending Result) -> sending Result {
        self.monitored.withLock { body(&$0.state) }
    }

    /// Runs `body` until it leaves, and sleeps in between.
    func wait<Result: Sendable>(for condition: Condition, _ body: (inout State) -> WaitStep<Result>) -> Result {
        self.monitored.wait(for: { $0.conditions[condition.rawValue] }, { body(&$0.state) })
    }

    func signal(_ condition: Condition, times: Int = 1) {
        self.monitored.withLock { monitored in
            for _ in 0..<times { pthread_cond_signal(monitored.conditions[condition.rawValue]) }
        }
    }

    func signalAll() {
        self.monitored.withLock { monitored in
            pthread_cond_broadcast(monitored.conditions[0])
            pthread_cond_broadcast(monitored.conditions[1])
        }
    }
}

/// Conditions of pthread's that measure time by the clock that ``MonotonicInstant`` reads: a change of the calendar must
/// not move a deadline.
private final class Conditions {
    private let first: UnsafeMutablePointer<pthread_cond_t>
    private let count: Int

    init(count: Int) {
        self.first = .allocate(capacity: count)
        self.count = count
        var attributes = pthread_condattr_t()
        var codes = [
            pthread_condattr_init(&attributes), pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC),
        ]
        for index in 0..<count { codes.append(pthread_cond_init(self.first + index, &attributes)) }
        codes.append(pthread_condattr_destroy(&attributes))
        precondition(codes.allSatisfy { $0 == 0 }, "making conditions failed: \(codes)")
    }

    deinit {
        for index in 0..<self.count { pthread_cond_destroy(self.first + index) }
        self.first.deallocate()
    }

    subscript(index: Int) -> UnsafeMutablePointer<pthread_cond_t> { self.first + index }
}
