import Glibc

/// One thread with HTTP transfers and byte streams over libcurl, and timers.
///
/// Each turn of the thread runs commands, fires timers, advances transfers, delivers received bytes, calls the
/// ``TurnDelegate``, sends, and sleeps until the next event. Code on the thread must not block. Releasing the last
/// reference shuts the loop down.
package final class EventLoop: Loop, HTTPTransport, Sendable {
    let queue: CommandQueue
    /// The joining thread holds this lock, so that other callers of `shutdown()` wait too.
    private let thread: Locked<OSThread?>

    /// Starts the loop's thread.
    ///
    /// - Throws: `TransportError` with code `invalidConfiguration` if libcurl is older than 7.68.0 or a setting is
    ///   unusable; with code `other` if libcurl cannot start, or the system refuses a descriptor or the thread.
    package init(configuration: Configuration = .init()) throws(TransportError) {
        try CurlLibrary.start()
        let waker: Waker
        do throws(SystemError) {
            waker = try Waker()
        } catch {
            throw TransportError(.other, detail: error.description)
        }
        self.queue = CommandQueue(waker: waker)
        // The loop's thread takes the core out of `handed`, so the core is destroyed on that thread.
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
        // `shutdown()` on the loop's own thread has not joined that thread.
        self.thread.withLock { $0?.detach() }
    }

    package var isCurrent: Bool { LoopPlace.current?.queue === self.queue }

    /// Runs `command` on the loop's thread in its next turn, in the order of submission. Any thread may call this.
    /// After shutdown, returns `false` and drops the command. Every accepted command runs.
    @discardableResult
    package func submit(_ command: @escaping @Sendable () -> Void) -> Bool { self.queue.append(command) }

    /// Runs `body` on the loop's thread and returns its result.
    ///
    /// - Throws: the errors of `body`; `TransportError` with code `shutDown`.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
            let isAccepted = self.submit { continuation.resume(with: Swift.Result { try body() }) }
            if !isAccepted { continuation.resume(throwing: TransportError.shutDown) }
        }
    }

    /// Sends `request` and returns the response, whatever its status; without the body if ``HTTPRequest/bodyPatience``
    /// is set. Does not follow redirects. Reuses connections, and uses HTTP/2 over TLS if offered. Decodes compressed
    /// bodies.
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
    /// more. The loop sends what the peers accept at once, then closes streams with code `shutDown`.
    ///
    /// Returns when the thread has ended; on that thread, at once. Any thread may call this repeatedly. The caller must
    /// not hold a lock that a command or callback waits for.
    package func shutdown() {
        self.queue.close()
        guard !self.isCurrent else { return }
        self.thread.withLock { thread in
            // OpenSSL frees its thread data in the thread's last step. Without the join, exit(3) could unload OpenSSL
            // during that step.
            thread?.join()
            thread = nil
        }
    }
}

/// Blocks most signals on this thread, so that other threads receive them. Also blocks SIGPIPE from a TLS library,
/// which older libcurl cannot suppress.
private func blockSignals() {
    var signals = sigset_t()
    sigfillset(&signals)
    for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF] {
        sigdelset(&signals, signal)
    }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}

// MARK: - On the loop's thread

// Calling these members, except `clocks`, on another thread is a programmer error and traps.
extension EventLoop {
    package var clocks: Clocks { .machine }
    package var now: MonotonicInstant { self.live.now }

    /// Starts to connect. The stream reports the outcome to `delegate` after this call has returned. During shutdown,
    /// returns a closed stream and never calls `delegate`.
    ///
    /// - Parameters:
    ///   - sendTimeout: the longest time for the peer's kernel to acknowledge sent bytes. After that the stream fails
    ///     with code `timedOut`. `nil`: the system's limit, about 15 min.
    ///     - Source: `TCP_USER_TIMEOUT` in tcp(7).
    ///   - isInspected: whether to record ``ByteStream/report``, which costs time and memory.
    package func openStream(
        _ target: StreamTarget, sendTimeout: Duration? = nil, isInspected: Bool = false,
        delegate: any ByteStreamDelegate
    ) -> any ByteStream {
        self.live.streams.openStream(target, sendTimeout: sendTimeout, isInspected: isInspected, delegate: delegate)
    }

    /// Runs `body` in the first turn that begins at or after `deadline`. Timers fire in the order of their deadlines.
    @discardableResult
    package func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID {
        self.live.timers.schedule(at: deadline, body)
    }

    package func cancel(_ timer: TimerID) { self.core?.timers.cancel(timer) }

    /// Calls `owner` between two turns when its descriptor becomes readable or, with `isWriting`, writable. The loop
    /// holds the owner until ``forget(_:)`` or its own end.
    ///
    /// - Throws: `TransportError` if the kernel refuses to watch the descriptor.
    package func watch(
        _ descriptor: Int32, isWriting: Bool, owner: any DescriptorOwner
    ) throws(TransportError) {
        let interest = isWriting ? Epoll.readable | Epoll.writable : Epoll.readable
        try self.live.sockets.watch(descriptor, for: interest, owner: .guest(owner))
    }

    /// Call this before closing the descriptor.
    package func forget(_ descriptor: Int32) { self.core?.sockets.forget(descriptor) }

    package func setTurnDelegate(_ delegate: (any TurnDelegate)?) { self.live.turnDelegate = delegate }

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
