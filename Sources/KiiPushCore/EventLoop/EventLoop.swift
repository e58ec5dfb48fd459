/// One thread that owns every socket: HTTP transfers, byte streams and timers over libcurl.
///
/// The thread takes turns. A turn runs the commands queued so far, fires timers, moves transfers, hands out what streams
/// received, calls the ``TurnDelegate``, writes what was sent, and sleeps until something happens. Nothing on it may
/// block. A loop that is let go of shuts down; ``shutdown()`` does it at a known time.
package final class EventLoop: Loop, HTTPTransport, Sendable {
    let thread: LoopThread
    let queue: CommandQueue

    /// Starts the loop's thread.
    ///
    /// - Throws: `TransportError` with code `invalidConfiguration` for a libcurl before 7.68.0, a proxy that is no URL,
    ///   or a CA file that cannot be read.
    package init(configuration: Configuration = .init()) throws(TransportError) {
        try CurlLibrary.start()
        self.thread = LoopThread()
        let waker = try Waker()
        let queue = CommandQueue(waker: waker)
        let core = try LoopCore(configuration, queue: queue, waker: waker)
        // Last, since from here on there is a `deinit`, which waits for the thread.
        self.queue = queue
        // The core is the thread's own, so that everything it owns dies there.
        try self.thread.start { core.live() }
    }

    deinit {
        self.shutdown()
    }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool { self.thread.isCurrent }

    /// Runs `command` on the loop's thread at the start of its next turn, in the order of submission. Any thread.
    ///
    /// Returns `false`, and drops the command, once the loop was shut down; what it returned `true` for does run.
    @discardableResult
    package func submit(_ command: @escaping @Sendable () -> Void) -> Bool {
        self.queue.append(command)
    }

    /// Runs `body` on the loop's thread and returns its result.
    ///
    /// - Throws: what `body` throws; `TransportError` with code `shutDown`.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
            let isAccepted = self.submit { continuation.resume(with: Swift.Result { try body() }) }
            if !isAccepted { continuation.resume(throwing: TransportError.shutDown) }
        }
    }

    /// Sends `request` and returns the whole response, whatever its status; redirects are not followed.
    ///
    /// Connections are reused and, over TLS, HTTP/2 is spoken with servers that offer it. Compressed bodies come
    /// decoded.
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
        self.thread.join()
    }
}

// MARK: - On the loop's thread

// Calling these on any other thread is a programmer error and traps.
extension EventLoop {
    package var clocks: Clocks { .machine }

    package var now: MonotonicInstant { self.live.now }

    /// Begins to connect. The delegate hears of the outcome, never before this returns.
    ///
    /// While the loop shuts down the stream is closed from the start, and the delegate hears nothing.
    ///
    /// - Parameters:
    ///   - target: where to.
    ///   - sendTimeout: how long what is sent may go without the peer's kernel saying that it has it; then the
    ///     connection counts as broken, with code `timedOut`. `nil` leaves it to the system, which takes about 15 min.
    ///     - Source: `TCP_USER_TIMEOUT` in tcp(7).
    ///   - isInspected: whether ``ByteStream/report`` is to tell how the connection came about. Default: no, since it
    ///     costs time and memory.
    ///   - delegate: who hears of it.
    package func openStream(
        _ target: StreamTarget, sendTimeout: Duration? = nil, isInspected: Bool = false,
        delegate: any ByteStreamDelegate
    ) -> any ByteStream {
        self.live.streams.open(target, sendTimeout: sendTimeout, isInspected: isInspected, delegate: delegate)
    }

    /// Runs `body` in the first turn that begins at or after `deadline`; timers fire in the order of their deadlines.
    @discardableResult
    package func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID {
        self.live.timers.schedule(at: deadline, body)
    }

    package func cancel(_ timer: TimerID) {
        self.core?.timers.cancel(timer)
    }

    /// Has `delegate` called in every turn, from this one on. The loop holds it until it is replaced or shut down.
    package func setTurnDelegate(_ delegate: (any TurnDelegate)?) {
        self.live.turnDelegate = delegate
    }

    /// Has `observer` called, at the beginning of a turn, when the machine has slept or its calendar was set. The loop
    /// holds it until it is replaced or shut down.
    package func setClockObserver(_ observer: ((ClockJump) -> Void)?) {
        self.live.clockObserver = observer
    }

    var live: LoopCore {
        guard let core = self.core else { preconditionFailure("the event loop has ended") }
        return core
    }

    private var core: LoopCore? {
        precondition(self.thread.isCurrent, "the event loop's own was touched off the loop's thread")
        return LoopCore.current
    }
}
