import Glibc
import Synchronization

/// The identity and life of the loop's one thread.
final class LoopThread: Sendable {
    // Zero before the thread's first and after its last instruction of ours, so a later thread that gets the same
    // pthread_t is never taken for this one. Only the thread itself can find its own value here.
    private let identity = Atomic<UInt>(0)
    private let joinable = Locked<pthread_t?>(nil)

    var isCurrent: Bool {
        self.identity.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Runs `body` on a thread of its own. Called once.
    func start(_ body: @escaping @Sendable () -> Void) throws(TransportError) {
        let job = Job { [self] in
            self.identity.store(UInt(pthread_self()), ordering: .relaxed)
            blockSignals()
            body()
            self.identity.store(0, ordering: .relaxed)
        }
        let context = Unmanaged.passRetained(job)
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body()
                return nil
            },
            context.toOpaque()
        )
        guard code == 0 else {
            context.release()
            throw TransportError(.other, detail: "the loop's thread cannot start: \(String(cString: strerror(code)))")
        }
        self.joinable.withLock { [thread] in $0 = thread }
    }

    /// Waits until the thread has ended; every caller does, whoever came first. From the thread itself it only lets go.
    func join() {
        guard !self.isCurrent else {
            self.joinable.withLock { thread in
                if let handle = thread { pthread_detach(handle) }
                thread = nil
            }
            return
        }
        // Held while waiting: that is how a second caller waits. The thread takes this lock only above, and a caller
        // that is waiting here has made that branch needless by then.
        self.joinable.withLock { thread in
            if let handle = thread { pthread_join(handle, nil) }
            thread = nil
        }
    }

    private final class Job {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// Leaves the process's signals to threads that expect them; also a TLS library's SIGPIPE, which no option suppresses in
/// older libcurl. Faults of this thread's own stay deliverable.
private func blockSignals() {
    var signals = sigset_t()
    sigfillset(&signals)
    for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF] {
        sigdelset(&signals, signal)
    }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
