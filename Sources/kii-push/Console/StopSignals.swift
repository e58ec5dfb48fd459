import Glibc

/// The descriptors through which the signal handler, which may do next to nothing, tells the thread that may do all.
private let signalPipe: (read: Int32, write: Int32) = {
    var descriptors: [Int32] = [-1, -1]
    // A process that has no descriptors left cannot receive messages either; writes to -1 fail and are harmless.
    if pipe(&descriptors) == 0 {
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }
    return (descriptors[0], descriptors[1])
}()

/// SIGINT and SIGTERM as something to wait for: the first asks for a graceful end, the second ends the process at once.
struct StopSignals: Sendable {
    private let stream: AsyncStream<Int32>

    /// Takes the two signals over, for the rest of the process. One that the parent has set to be ignored, as a shell
    /// does with SIGINT for a job in the background, stays ignored.
    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        // Made before the handler can run, since the first use of a global is not safe in a handler.
        _ = signalPipe
        Self.startThread(continuation)
        Self.handle(SIGINT)
        Self.handle(SIGTERM)
    }

    /// The first signal; `nil` when the task was cancelled before one came.
    func next() async -> Int32? {
        for await number in self.stream { return number }
        return nil
    }

    /// How the process ends after a graceful stop that `number` asked for: what a service manager calls success.
    static func status(after number: Int32) -> ExitStatus {
        number == SIGINT ? .interrupted : .success
    }

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

    private static func startThread(_ continuation: AsyncStream<Int32>.Continuation) {
        let context = Unmanaged.passRetained(Box(continuation))
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                // Balances passRetained above; the box lives as long as this function.
                let box = Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
                box.readSignals()
                return nil
            },
            context.toOpaque()
        )
        guard code == 0 else {
            context.release()
            return
        }
        pthread_detach(thread)
    }

    private final class Box {
        private let continuation: AsyncStream<Int32>.Continuation

        init(_ continuation: AsyncStream<Int32>.Continuation) {
            self.continuation = continuation
        }

        func readSignals() {
            var byte: UInt8 = 0
            var isStopping = false
            while true {
                let count = read(signalPipe.read, &byte, 1)
                if count < 0, errno == EINTR { continue }
                guard count == 1 else { return }
                guard !isStopping else { _exit(128 + Int32(byte)) }
                isStopping = true
                self.continuation.yield(Int32(byte))
            }
        }
    }
}
