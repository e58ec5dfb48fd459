import Glibc

/// One thread that owns every socket: HTTP transfers, byte streams and timers over libcurl.
///
/// The thread takes turns. A turn runs the queued commands, fires timers, advances transfers, delivers received bytes,
/// calls the ``TurnDelegate``, sends, and sleeps until the next event. Code on the thread must not block. Releasing the
/// last reference shuts the loop down; ``shutdown()`` does so at a known time.
package final class EventLoop: Loop, HTTPTransport, Sendable {
    let queue: CommandQueue
    /// The thread, until it is joined. The joining thread holds the lock, so that all waiting threads continue
    /// together.
    private let thread: Locked<OSThread?>

    /// Starts the loop's thread.
    ///
    /// - Throws: `TransportError` with code `invalidConfiguration` for a libcurl before 7.68.0, or for a proxy, user
    ///   agent, CA file or client certificate that is unusable; `other` when the system refuses a descriptor or the
    ///   thread.
    package init(configuration: Configuration = .init()) throws(TransportError) {
        try CurlLibrary.start()
        let waker: Waker
        do throws(SystemError) {
            waker = try Waker()
        } catch {
            throw TransportError(.other, detail: error.description)
        }
        self.queue = CommandQueue(waker: waker)
        // Handed to the thread, which owns it from then on, so that everything in it is destroyed there.
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
        // On the loop's own thread, `shutdown()` has not joined it; nobody else can any more.
        self.thread.withLock { $0?.detach() }
    }

    package var isCurrent: Bool { LoopPlace.current?.queue === self.queue }

    /// Runs `command` on the loop's thread at the start of its next turn, in order of submission. Any thread. Returns
    /// `false`, and drops the command, after shutdown; every accepted command runs.
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

    /// Sends `request` and returns the whole response, whatever its status. Redirects are not followed. Connections are
    /// reused; over TLS the loop speaks HTTP/2 with servers that offer it. Compressed bodies arrive decoded.
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

    /// Ends the loop. Queued commands run, transfers fail with code `shutDown`, and the ``TurnDelegate`` runs once
    /// more. The loop sends as much as the peers take at once, closes streams with code `shutDown`, and drops timers.
    ///
    /// Returns when the thread has ended; on that thread, at once. Any thread, any number of times. The caller must not
    /// hold a lock that a command or callback waits for.
    package func shutdown() {
        self.queue.close()
        guard !self.isCurrent else { return }
        self.thread.withLock { thread in
            // Waits for the thread itself, not only for its work: OpenSSL frees its thread data in the thread's last
            // step, which must not coincide with exit(3) unloading OpenSSL.
            thread?.join()
            thread = nil
        }
    }
}

/// Blocks signals on this thread, so that other threads get them; also a TLS library's SIGPIPE, which no option
/// suppresses in older libcurl. Faults of this thread stay deliverable.
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

    /// Starts to connect. The stream reports the outcome to the delegate, never before this call returns. During
    /// shutdown it returns a closed stream and never calls the delegate.
    ///
    /// - Parameters:
    ///   - sendTimeout: the longest that sent bytes may stay unacknowledged by the peer's kernel; then the connection
    ///     counts as broken, with code `timedOut`. `nil` leaves it to the system, about 15 min.
    ///     - Source: `TCP_USER_TIMEOUT` in tcp(7).
    ///   - isInspected: whether ``ByteStream/report`` is recorded, which costs time and memory.
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

    /// Cancels a timer; does nothing after the loop's end.
    package func cancel(_ timer: TimerID) { self.core?.timers.cancel(timer) }

    /// Calls `owner`, between two turns, when its descriptor becomes readable, or writable if `isWriting`. The loop
    /// holds the owner until ``forget(_:)`` or its own end.
    ///
    /// - Throws: `TransportError` when the kernel refuses to watch the descriptor.
    package func watch(
        _ descriptor: Int32, isWriting: Bool, owner: any DescriptorOwner
    ) throws(TransportError) {
        let interest = isWriting ? Epoll.readable | Epoll.writable : Epoll.readable
        try self.live.sockets.watch(descriptor, for: interest, owner: .guest(owner))
    }

    /// Call it before closing the descriptor.
    package func forget(_ descriptor: Int32) { self.core?.sockets.forget(descriptor) }

    /// Calls `delegate` in every turn, from this one on. The loop holds it until it is replaced or the loop ends.
    package func setTurnDelegate(_ delegate: (any TurnDelegate)?) { self.live.turnDelegate = delegate }

    /// Calls `observer` at the start of a turn when the machine has slept or its calendar was set. The loop holds it
    /// until it is replaced or the loop ends.
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
