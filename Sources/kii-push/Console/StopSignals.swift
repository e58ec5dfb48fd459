import Glibc
import KiiPushCore

/// The descriptors through which the signal handler, which may do next to nothing, tells the thread that may do all.
private let signalPipe: (read: Int32, write: Int32, code: Int32) = {
    var descriptors: [Int32] = [-1, -1]
    guard pipe(&descriptors) == 0 else { return (-1, -1, errno) }
    for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (descriptors[0], descriptors[1], 0)
}()

/// Whom the thread hands signals to: the ``StopSignals`` that was made last.
private struct SignalReceiver {
    let stops: AsyncStream<Int32>.Continuation
    let numbers: [Int32]
    let asks: AsyncStream<Int32>.Continuation
    var isStopping = false
}

/// `isRead` says whether a thread reads the pipe.
private let signalReceiver = Locked<(isRead: Bool, receiver: SignalReceiver?)>((false, nil))

/// SIGINT and SIGTERM as something to wait for: the first asks for a graceful end, the second ends the process at once.
struct StopSignals: Sendable {
    /// Starts a thread that runs `body` to its end.
    typealias ThreadStart = (_ body: @escaping @Sendable () -> Void) throws(ThreadError) -> Void

    private let stream: AsyncStream<Int32>
    /// The further signals that came, each of which wants something other than an end.
    let asks: AsyncStream<Int32>

    /// Takes the two signals over, for the rest of the process. One that the parent has set to be ignored, as a shell
    /// does with SIGINT for a job in the background, stays ignored.
    ///
    /// - Parameter asks: further signals to take over, which end nothing.
    /// - Throws: ``CommandFailure`` when the system gives no pipe or no thread for it. The signals then do what they do
    ///   by default.
    init(
        asks: [Int32] = [],
        startThread: ThreadStart = { body throws(ThreadError) in try OSThread(name: "signals", body).detach() }
    ) throws {
        let stops = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
        let asked = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(16))
        (self.stream, self.asks) = (stops.stream, asked.stream)
        // Made before the handler can run, since the first use of a global is not safe in a handler.
        guard signalPipe.read >= 0 else { throw Self.failure("no pipe can be made: \(errorText(signalPipe.code))") }
        let receiver = SignalReceiver(stops: stops.continuation, numbers: asks, asks: asked.continuation)
        do throws(ThreadError) {
            try signalReceiver.withLock { current throws(ThreadError) in
                // A second thread would take signals away from the first.
                if !current.isRead { try startThread { Self.readSignals() } }
                current = (true, receiver)
            }
        } catch {
            throw Self.failure(error.description)
        }
        for number in [SIGINT, SIGTERM] + asks { Self.handle(number) }
    }

    /// The first signal; `nil` when the task was cancelled before one came.
    func next() async -> Int32? {
        for await number in self.stream { return number }
        return nil
    }

    /// How the process ends after a graceful stop that `number` asked for: what a service manager calls success.
    static func status(after number: Int32) -> ExitStatus { number == SIGINT ? .interrupted : .success }

    private static func handle(_ number: Int32) {
        var old = sigaction()
        guard sigaction(number, nil, &old) == 0 else { return }
        // A handler is compared by its address: function values have no identity in Swift.
        let isIgnored =
            unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        guard !isIgnored else { return }
        var new = sigaction()
        new.__sigaction_handler.sa_handler = { number in
            // signal-safety(7) allows write(2) and little else; errno belongs to whoever was interrupted.
            let interrupted = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(signalPipe.write, &byte, 1)
            errno = interrupted
        }
        new.sa_flags = SA_RESTART
        sigaction(number, &new, nil)
    }

    private static func failure(_ cause: String) -> CommandFailure {
        CommandFailure(
            .temporary, "cannot wait for ^C and SIGTERM: \(cause)",
            hint: "end some processes, or raise their limit (ulimit -u, ulimit -n)")
    }

    /// Hands out the first signal; the second ends the process.
    private static func readSignals() {
        var byte: UInt8 = 0
        while true {
            let count = read(signalPipe.read, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return }
            let number = Int32(byte)
            signalReceiver.withLock { current in
                guard let receiver = current.receiver else { return }
                if receiver.numbers.contains(number) {
                    receiver.asks.yield(number)
                    return
                }
                guard !receiver.isStopping else { _exit(128 + number) }
                current.receiver?.isStopping = true
                receiver.stops.yield(number)
            }
        }
    }
}
