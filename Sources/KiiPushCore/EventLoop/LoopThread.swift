import CCurl
import Glibc
import Synchronization

/// The identity and life of the loop's one thread.
final class LoopThread: Sendable {
    // Zero before the thread's first and after its last instruction of ours, so a later thread that gets the same
    // pthread_t is never taken for this one. Only the thread itself can find its own value here.
    private let identity = Atomic<UInt>(0)
    // An eventfd, since any number of threads can wait on it: each takes one of the many units left at the end.
    private let ended: Int32

    init() throws(TransportError) {
        self.ended = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_SEMAPHORE))
        guard self.ended >= 0 else {
            throw TransportError(.other, detail: "eventfd failed: \(errorText(errno))")
        }
    }

    deinit {
        close(self.ended)
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
            eventfd_write(self.ended, UInt64(UInt32.max))
            throw TransportError(.other, detail: "the loop's thread cannot start: \(errorText(code))")
        }
        pthread_detach(thread)
    }

    /// Waits until what the thread runs has returned. On the thread itself it returns at once.
    func join() {
        guard !self.isCurrent else { return }
        var unit: eventfd_t = 0
        // A signal handler may interrupt the wait.
        while eventfd_read(self.ended, &unit) != 0, errno == EINTR {}
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
            eventfd_write(self.thread.ended, UInt64(UInt32.max))
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
