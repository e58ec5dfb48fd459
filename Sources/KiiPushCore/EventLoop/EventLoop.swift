import Glibc

/// One thread that owns every socket: HTTP transfers, byte streams and timers over libcurl.
///
/// The thread takes turns. A turn runs the commands queued so far, fires timers, moves transfers, hands out what streams
/// received, calls the ``TurnDelegate``, writes what was sent, and sleeps until something happens. Nothing on it may
/// block. A loop that is let go of shuts down; ``shutdown()`` does it at a known time.
package final class EventLoop: Loop, HTTPTransport, Sendable {
    let queue: CommandQueue
    /// Until it is joined. Whoever joins holds the lock meanwhile, so that all who wait go on together.
    private let thread: Locked<OSThread?>

    /// Starts the loop's thread.
    ///
    /// - Throws: `TransportError` with code `invalidConfiguration` for a libcurl before 7.68.0, a proxy that is no URL,
    ///   or a CA file that cannot be read.
    package init(configuration: Configuration = .init()) throws(TransportError) {
        try CurlLibrary.start()
        let waker: Waker
        do throws(SystemError) {
            waker = try Waker()
        } catch {
            throw TransportError(.other, detail: error.description)
        }
        self.queue = CommandQueue(waker: waker)
        // On its way to the thread, whose own it is from then on, so that everything it owns dies there.
        let core = try LoopCore(configuration, queue: self.queue, waker: waker)
        let handed = Locked<LoopPlace?>(LoopPlace(of: core, queue: self.queue))
        do throws(SystemError) {
            let thread = try OSThread(name: "kii-loop") {
                blockSignals()
                let place = handed.withLock { handed in
                    let place = handed
                    handed = nil
                    return place
                }
                place?.live()
            }
            self.thread = Locked(thread)
        } catch {
            throw TransportError(.other, detail: "the loop's thread cannot start: \(errorText(error.code))")
        }
    }

    deinit {
        self.shutdown()
        // There is still a thread to join when this is that thread itself; nobody else can wait for it any more.
        self.thread.withLock { $0?.detach() }
    }

    /// Whether this is the loop's thread.
    package var isCurrent: Bool { LoopPlace.current?.queue === self.queue }

    /// Runs `command` on the loop's thread at the start of its next turn, in the order of submission. Any thread.
    /// Returns `false`, and drops the command, once the loop was shut down; what it returned `true` for does run.
    @discardableResult
    package func submit(_ command: @escaping @Sendable () -> Void) -> Bool { self.queue.append(command) }

    /// Runs `body` on the loop's thread and returns its result.
    ///
    /// - Throws: what `body` throws; `TransportError` with code `shutDown`.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
            let isAccepted = self.submit { continuation.resume(with: Swift.Result { try body() }) }
            if !isAccepted { continuation.resume(throwing: TransportError.shutDown) }
        }
    }

    /// Sends `request` and returns the whole response, whatever its status; redirects are not followed. Connections are
    /// reused; over TLS, HTTP/2 is spoken with servers that offer it. Compressed bodies come decoded.
    ///
    /// - Throws: `TransportError`; `CancellationError` as soon as the task is cancelled.
    package func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
        let ticket = TransferTicket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isAccepted = self.submit {
                    guard let transfers = LoopCore.current?.transfers else {
                        return continuation.resume(throwing: TransportError.shutDown)
                    }
                    transfers.start(request, ticket: ticket, continuation: continuation)
                }
                if !isAccepted { continuation.resume(throwing: TransportError.shutDown) }
            }
        } onCancel: {
            ticket.cancel()
            self.submit { LoopCore.current?.transfers.cancel(ticket) }
        }
    }

    /// Ends the loop: queued commands run, transfers fail with code `shutDown`, the ``TurnDelegate`` is called once more,
    /// what it sends is written as far as the peers take it at once, streams close with code `shutDown`, timers are
    /// dropped.
    ///
    /// Returns when the thread has ended; called on that thread, at once. Any thread, any number of times. It must not
    /// be called while holding what a command or callback waits for.
    package func shutdown() {
        self.queue.close()
        guard !self.isCurrent else { return }
        self.thread.withLock { thread in
            // For the thread's end, and not only that of what it runs: OpenSSL frees what it keeps of a thread with the
            // thread's last step, and must not do so while exit(3) takes OpenSSL down.
            thread?.join()
            thread = nil
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

// MARK: - On the loop's thread

// Calling these on any other thread is a programmer error and traps.
extension EventLoop {
    package var clocks: Clocks { .machine }
    package var now: MonotonicInstant { self.live.now }

    /// Begins to connect. The delegate hears of the outcome, never before this returns. While the loop shuts down the
    /// stream is closed from the start, and the delegate hears nothing.
    ///
    /// - Parameters:
    ///   - sendTimeout: how long what is sent may go without the peer's kernel saying that it has it; then the
    ///     connection counts as broken, with code `timedOut`. `nil` leaves it to the system, which takes about 15 min.
    ///     - Source: `TCP_USER_TIMEOUT` in tcp(7).
    ///   - isInspected: whether ``ByteStream/report`` is to tell how the connection came about, which costs time and memory.
    package func openStream(
        _ target: StreamTarget, sendTimeout: Duration? = nil, isInspected: Bool = false,
        delegate: any ByteStreamDelegate
    ) -> any ByteStream {
        self.live.streams.openStream(target, sendTimeout: sendTimeout, isInspected: isInspected, delegate: delegate)
    }

    /// Runs `body` in the first turn that begins at or after `deadline`; timers fire in the order of their deadlines.
    @discardableResult
    package func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID {
        self.live.timers.schedule(at: deadline, body)
    }

    /// When the loop has ended, its timers are gone, and nothing is to be done.
    package func cancel(_ timer: TimerID) { self.core?.timers.cancel(timer) }

    /// Has `owner` told, between two turns, when a descriptor that it has opened can be read, or written to where that is
    /// asked for as well. The loop holds the owner until ``forget(_:)``, or until it ends.
    ///
    /// - Throws: `TransportError` when the kernel refuses to watch it.
    package func watch(
        _ descriptor: Int32, isWriting: Bool, owner: any DescriptorOwner
    ) throws(TransportError) {
        let interest = isWriting ? Epoll.readable | Epoll.writable : Epoll.readable
        try self.live.sockets.watch(descriptor, for: interest, owner: .guest(owner))
    }

    /// Watches a descriptor no longer; before it is closed.
    package func forget(_ descriptor: Int32) { self.core?.sockets.forget(descriptor) }

    /// Has `delegate` called in every turn, from this one on. The loop holds it until it is replaced or shut down.
    package func setTurnDelegate(_ delegate: (any TurnDelegate)?) { self.live.turnDelegate = delegate }

    /// Has `observer` called, at the beginning of a turn, when the machine has slept or its calendar was set. The loop
    /// holds it until it is replaced or shut down.
    package func setClockObserver(_ observer: ((ClockJump) -> Void)?) { self.live.clockObserver = observer }

    var live: LoopCore {
        guard let core = self.core else { preconditionFailure("the event loop has ended") }
        return core
    }

    private var core: LoopCore? {
        precondition(self.isCurrent, "the event loop's own was touched off the loop's thread")
        return LoopCore.current
    }
}
