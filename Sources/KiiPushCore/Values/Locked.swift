import Glibc

/// One lock around one value: the only way shared mutable state is kept in this package.
///
/// A pthread mutex, since ThreadSanitizer on Linux cannot see `Synchronization.Mutex` and reports races that are not
/// there. Compute under the lock, act after it: no callback is ever made from inside ``withLock(_:)``.
package final class Locked<State>: Sendable {
    /// What lies behind the address.
    private struct Guarded {
        var mutex = pthread_mutex_t()
        // Last: a value without a size would share its address with the mutex, which ThreadSanitizer takes for a race.
        var state: State
    }

    // Proof that this may be shared: the address never changes, and pthread's calls on the mutex are for any thread. The
    // state is touched by `withLock` and `wait` alone, with the mutex locked for as long as a body runs; waiting gives it up
    // between two runs only. What goes in, at the beginning or by a body, is out of everyone else's reach, and what a body
    // returns is out of the state's, since all of it is `sending`. Who lets go of the last reference is alone with it.
    private let address: UInt

    private var guarded: UnsafeMutablePointer<Guarded> {
        guard let guarded = UnsafeMutablePointer<Guarded>(bitPattern: self.address) else {
            preconditionFailure("an allocation is nowhere")
        }
        return guarded
    }

    private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        // The first member: it stands where the whole does.
        UnsafeMutableRawPointer(self.guarded).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    package init(_ initial: sending State) {
        let guarded = UnsafeMutablePointer<Guarded>.allocate(capacity: 1)
        guarded.initialize(to: Guarded(state: initial))
        self.address = UInt(bitPattern: guarded)
        let code = pthread_mutex_init(self.mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed with \(code)")
    }

    deinit {
        pthread_mutex_destroy(self.mutex)
        self.guarded.deinitialize(count: 1)
        self.guarded.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return try body(&self.guarded.pointee.state)
    }

    /// Runs `body` with exclusive access to the value until it leaves, and in between sleeps for the condition.
    func wait<Result: Sendable>(
        for condition: (State) -> UnsafeMutablePointer<pthread_cond_t>,
        _ body: (inout sending State) -> WaitStep<Result>
    ) -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        let condition = condition(self.guarded.pointee.state)
        while true {
            switch body(&self.guarded.pointee.state) {
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

/// What a waiting thread does next.
enum WaitStep<Result: Sendable> {
    case leave(Result)
    /// Gives the lock up until the condition is signalled or, if there is one, the instant has come.
    case sleep(until: MonotonicInstant?)
}
