import Glibc

/// One lock around one value: the only way shared mutable state is kept in this package.
///
/// A pthread mutex, since ThreadSanitizer on Linux cannot see `Synchronization.Mutex` and reports races that are not
/// there. Compute under the lock, act after it: no callback is ever made from inside ``withLock(_:)``.
package final class Locked<State>: Sendable {
    // pthread's calls on what it points to are for any thread.
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>  // Safe: never changes
    // Safe: touched by `withLock` alone, with `mutex` locked for as long as the body runs. What goes in, at the beginning or
    // by a body, is out of everyone else's reach, and what a body returns is out of the state's, since all of it is
    // `sending`. Who lets go of the last reference is alone with it.
    // Last: a value without a size would share its address with what follows, which ThreadSanitizer takes for a race.
    private nonisolated(unsafe) var state: State  // Safe: touched with `mutex` locked alone; in and out by `sending`

    package init(_ initial: sending State) {
        self.mutex = .allocate(capacity: 1)
        self.state = initial
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
