import Glibc
import Synchronization

/// The identity and life of the loop's one thread.
final class LoopThread: Sendable {
    // Zero before the thread's first and after its last instruction of ours, so a later thread that gets the same
    // pthread_t is never taken for this one. Only the thread itself can find its own value here.
    private let identity = Atomic<UInt>(0)
    // Until it is joined. Whoever joins holds the lock meanwhile, so that all who wait go on together.
    private let handle = Locked<pthread_t?>(nil)

    deinit {
        // Nobody has waited, and now nobody can: perhaps this is the thread itself.
        self.handle.withLock { if let handle = $0 { pthread_detach(handle) } }
    }

    var isCurrent: Bool {
        self.identity.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Runs `body` on a thread of its own. Called once.
    func start(_ body: sending @escaping () -> Void) throws(TransportError) {
        let job = Job(self, body)
        let context = Unmanaged.passRetained(job)
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Job>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            context.toOpaque()
        )
        guard code == 0 else {
            context.release()
            throw TransportError(.other, detail: "the loop's thread cannot start: \(errorText(code))")
        }
        self.handle.withLock { [thread] in $0 = thread }
    }

    /// Waits until the thread has ended, and not only what it runs: OpenSSL frees what it keeps of a thread with the
    /// thread's last step, and must not do so while exit(3) takes OpenSSL down. On the thread itself it returns at once.
    func join() {
        guard !self.isCurrent else { return }
        self.handle.withLock { handle in
            guard let thread = handle else { return }
            pthread_join(thread, nil)
            handle = nil
        }
    }

    private final class Job {
        private let thread: LoopThread
        private var body: (() -> Void)?

        init(_ thread: LoopThread, _ body: @escaping () -> Void) {
            self.thread = thread
            self.body = body
        }

        func run() {
            self.thread.identity.store(UInt(pthread_self()), ordering: .relaxed)
            blockSignals()
            self.body?()
            // What it holds ends on this thread, and before anybody hears that the thread has ended.
            self.body = nil
            self.thread.identity.store(0, ordering: .relaxed)
        }
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
