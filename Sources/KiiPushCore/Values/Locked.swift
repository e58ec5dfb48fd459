import Glibc

/// One lock around one value: the only way shared mutable state is kept in this package.
///
/// A pthread mutex, since ThreadSanitizer on Linux cannot see `Synchronization.Mutex` and reports races that are not
/// there. Compute under the lock, act after it: no callback is ever made from inside ``withLock(_:)``.
package final class Locked<State>: @unchecked Sendable {
    // Proof for @unchecked Sendable: `state` is touched in `withLock` alone, which holds `mutex` for the whole access,
    // and what leaves the body is `sending`, so no second reference to the guarded value gets out.
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ initial: sending State) {
        self.state = initial
        self.mutex = .allocate(capacity: 1)
        let code = pthread_mutex_init(self.mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed with \(code)")
    }

    deinit {
        pthread_mutex_destroy(self.mutex)
        self.mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return try body(&self.state)
    }
}
