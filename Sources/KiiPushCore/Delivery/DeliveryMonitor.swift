import Glibc

/// One lock around one value, and two conditions to wait for: work for the threads, and time for the timer.
///
/// As with ``Locked``: compute under the lock, act after it.
final class DeliveryMonitor<State: Sendable>: Sendable {
    // Safe: touched by `withLock` and `wait` alone, with `mutex` locked for as long as a body runs; waiting gives it up
    // inside pthread_cond_wait only, between two runs. Who lets go of the last reference is alone with it.
    private nonisolated(unsafe) var state: State  // Safe: touched with `mutex` locked alone
    // Safe, both: the pointers never change, and pthread's calls on what they point to are for any thread.
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>  // Safe: never changes
    private nonisolated(unsafe) let conditions: UnsafeMutablePointer<pthread_cond_t>  // Safe: never changes

    enum Condition: Int {
        case work = 0
        case time = 1
    }

    /// What a waiting thread does next.
    enum Step<Result> {
        case leave(Result)
        /// Gives the lock up until the condition is signalled or, if there is one, the instant has come.
        case sleep(until: MonotonicInstant?)
    }

    init(_ initial: State) {
        self.state = initial
        self.mutex = .allocate(capacity: 1)
        self.conditions = .allocate(capacity: 2)
        // The clock that MonotonicInstant reads: a change of the calendar must not move a deadline.
        var attributes = pthread_condattr_t()
        let codes = [
            pthread_mutex_init(self.mutex, nil),
            pthread_condattr_init(&attributes),
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC),
            pthread_cond_init(self.conditions, &attributes),
            pthread_cond_init(self.conditions + 1, &attributes),
            pthread_condattr_destroy(&attributes),
        ]
        precondition(codes.allSatisfy { $0 == 0 }, "making a lock failed: \(codes)")
    }

    deinit {
        pthread_cond_destroy(self.conditions)
        pthread_cond_destroy(self.conditions + 1)
        pthread_mutex_destroy(self.mutex)
        self.conditions.deallocate()
        self.mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return body(&self.state)
    }

    /// Runs `body` until it leaves, and sleeps in between.
    func wait<Result>(for condition: Condition, _ body: (inout State) -> Step<Result>) -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        while true {
            switch body(&self.state) {
            case .leave(let result): return result
            case .sleep(nil): pthread_cond_wait(self.conditions + condition.rawValue, self.mutex)
            case .sleep(let until?):
                var time = timespec(
                    tv_sec: Int(until.nanoseconds / 1_000_000_000), tv_nsec: Int(until.nanoseconds % 1_000_000_000))
                pthread_cond_timedwait(self.conditions + condition.rawValue, self.mutex, &time)
            }
        }
    }

    func signal(_ condition: Condition, times: Int = 1) {
        for _ in 0..<times { pthread_cond_signal(self.conditions + condition.rawValue) }
    }

    func signalAll() {
        pthread_cond_broadcast(self.conditions)
        pthread_cond_broadcast(self.conditions + 1)
    }
}
