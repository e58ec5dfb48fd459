import Glibc

/// One lock around one value: the only way shared mutable state is kept in this package.
///
/// A pthread mutex, since ThreadSanitizer on Linux cannot see `Synchronization.Mutex` and reports races that are not
/// there. Compute under the lock, act after it: no callback is ever made from inside ``withLock(_:)``.
package final class Locked<State> {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    // Not a property: Swift would check at run time, with every access, that no other one overlaps. The mutex keeps others
    // out, and a body that locks again never returns.
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

    /// Runs `body` with exclusive access to the value until it leaves, and in between sleeps for the condition.
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

// The proof, since the compiler cannot check it: the two pointers never change, and pthread's calls on what `mutex` points
// to are for any thread. What `state` points to is touched by `withLock` and `wait` alone, with `mutex` locked for as long
// as a body runs; waiting gives it up between two runs only. What goes in, at the beginning or by a body, is out of
// everyone else's reach, and what a body returns is out of the state's, since all of it is `sending`. Who lets go of the
// last reference is alone with it.
extension Locked: @unchecked Sendable {}

/// What a waiting thread does next.
package enum WaitStep<Result: Sendable> {
    case leave(Result)
    /// Gives the lock up until the condition is signalled or, if there is one, the instant has come.
    case sleep(until: MonotonicInstant?)
}
