import Glibc

/// A value behind a lock. Never call a callback inside ``withLock(_:)``.
///
/// It uses a pthread mutex: ThreadSanitizer on Linux cannot see `Synchronization.Mutex` and reports false races.
package final class Locked<State> {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    // A pointer avoids Swift's exclusivity checks at run time. The mutex already prevents overlapping accesses; a body
    // that locks again deadlocks.
    private let state: UnsafeMutablePointer<State>

    package init(_ initial: sending State) {
        self.mutex = .allocate(capacity: 1)
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: initial)
        let code = pthread_mutex_init(self.mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed with \(code)")
    }

    deinit {
        pthread_mutex_destroy(self.mutex)
        self.mutex.deallocate()
        self.state.deinitialize(count: 1)
        self.state.deallocate()
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return try body(&self.state.pointee)
    }

    /// Runs `body` with the lock held, repeatedly until `body` returns `leave`. Waits for the condition between two
    /// runs.
    func wait<Result: Sendable>(
        for condition: (State) -> UnsafeMutablePointer<pthread_cond_t>,
        _ body: (inout sending State) -> WaitStep<Result>
    ) -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        let condition = condition(self.state.pointee)
        while true {
            switch body(&self.state.pointee) {
            case .leave(let result): return result
            case .sleep(nil): pthread_cond_wait(condition, self.mutex)
            case .sleep(let until?):
                var time = timespec(
                    tv_sec: Int(until.nanoseconds / 1_000_000_000), tv_nsec: Int(until.nanoseconds % 1_000_000_000))
                pthread_cond_timedwait(condition, self.mutex, &time)
            }
        }
    }
}

// Proof, since the compiler cannot check it. The two pointers never change, and any thread may call pthread on `mutex`.
// Only `withLock` and `wait` access the pointee of `state`, with `mutex` locked while a body runs; `wait` unlocks only
// between two runs.
// All values that enter or leave the state are `sending`, so nothing else can reach them.
// The thread that releases the last reference is the only one with access.
extension Locked: @unchecked Sendable {}

package enum WaitStep<Result: Sendable> {
    case leave(Result)
    /// Waits until the condition is signalled or the instant has come; `nil` for no deadline.
    case sleep(until: MonotonicInstant?)
}
