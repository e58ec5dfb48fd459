import Glibc

/// The descriptors through which the signal handler, which may do next to nothing, tells the thread that may do all. They
/// stay open, since a handler may still run on another thread when the signals have been handed back.
private let signalPipe: (read: Int32, write: Int32, code: Int32, process: pid_t) = {
    var descriptors: [Int32] = [-1, -1]
    guard pipe(&descriptors) == 0 else { return (-1, -1, errno, getpid()) }
    for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (descriptors[0], descriptors[1], 0, getpid())
}()

/// Who waits for signals, and what the signals did before somebody did.
private struct SignalState {
    /// Whether a thread reads the pipe.
    var isRead = false
    var waiting: [(signals: StopSignals, isStopping: Bool)] = []
    var former: [Int32: sigaction] = [:]
}

private let signalState = Locked(SignalState())

/// SIGINT and SIGTERM as something to wait for: the first asks for a graceful end, the second ends the process at once.
package final class StopSignals: Sendable {
    /// Starts a thread that runs `body` to its end.
    package typealias ThreadStart = (_ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

    private let stops = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
    private let asked = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(16))
    private let numbers: [Int32]
    private let whenStopped: @Sendable () -> Void

    /// Takes the two signals over, until ``handBack()``. One that the parent has set to be ignored, as a shell does with
    /// SIGINT for a job in the background, stays ignored. Everyone who waits at the same time is told of each signal.
    ///
    /// - Parameters:
    ///   - asks: further signals to take over, which end nothing.
    ///   - whenStopped: told of the first of the two, on a thread that it must not block.
    /// - Throws: ``SystemError`` if the system gives no pipe or no thread. The signals then do what they did before.
    package init(
        asks: [Int32] = [],
        whenStopped: @escaping @Sendable () -> Void = {},
        startThread: ThreadStart = { body throws(SystemError) in try OSThread(name: "signals", body).detach() }
    ) throws(SystemError) {
        (self.numbers, self.whenStopped) = (asks, whenStopped)
        do throws(SystemError) {
            // Made before the handler can run, since the first use of a global is not safe in a handler.
            guard signalPipe.read >= 0 else { throw SystemError("no pipe can be made", code: signalPipe.code) }
            try signalState.withLock { state throws(SystemError) in
                // A second thread would take signals away from the first.
                if !state.isRead { try startThread { Self.readSignals() } }
                state.isRead = true
                state.waiting.append((self, isStopping: false))
                for number in [SIGINT, SIGTERM] + asks where state.former[number] == nil {
                    state.former[number] = Self.takeOver(number)
                }
            }
        } catch {
            throw error.hindering("wait for ^C and SIGTERM")
        }
    }

    /// The further signals that came, each of which wants something other than an end.
    package var asks: AsyncStream<Int32> { self.asked.stream }

    /// The first signal; `nil` when the task was cancelled before one came.
    package func next() async -> Int32? {
        for await number in self.stops.stream { return number }
        return nil
    }

    /// Waits no more. When nobody does, each signal does again what it did before. Without this call the signals are
    /// taken over for the rest of the process.
    package func handBack() {
        signalState.withLock { state in
            state.waiting.removeAll { $0.signals === self }
            guard state.waiting.isEmpty else { return }
            for (number, var action) in state.former { sigaction(number, &action, nil) }
            state.former = [:]
        }
    }

    /// Returns what the signal did before; `nil` when it is left alone.
    private static func takeOver(_ number: Int32) -> sigaction? {
        var old = sigaction()
        guard sigaction(number, nil, &old) == 0 else { return nil }
        // A handler is compared by its address: function values have no identity in Swift.
        let isIgnored =
            unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        guard !isIgnored else { return nil }
        var new = sigaction()
        new.__sigaction_handler.sa_handler = { number in
            // A child that was forked without exec has this handler too, and its signals are not its parent's.
            guard getpid() == signalPipe.process else {
                signal(number, SIG_DFL)
                raise(number)
                return
            }
            // signal-safety(7) allows write(2) and little else; errno belongs to whoever was interrupted.
            let interrupted = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(signalPipe.write, &byte, 1)
            errno = interrupted
        }
        // Go's threads have small stacks, and its programs crash with a handler that does not ask for the other one.
        new.sa_flags = SA_RESTART | SA_ONSTACK
        sigaction(number, &new, nil)
        return old
    }

    /// Hands out the first signal; the second ends the process.
    private static func readSignals() {
        var byte: UInt8 = 0
        while true {
            let count = read(signalPipe.read, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return }
            let number = Int32(byte)
            let stopped = signalState.withLock { state -> [StopSignals] in
                // It came before the signals were handed back, and does what it does now.
                guard !state.waiting.isEmpty else {
                    kill(getpid(), number)
                    return []
                }
                let asked = state.waiting.filter { $0.signals.numbers.contains(number) }
                for waiter in asked { waiter.signals.asked.continuation.yield(number) }
                guard asked.isEmpty else { return [] }
                guard state.waiting.contains(where: { !$0.isStopping }) else { _exit(128 + number) }
                let stopped = state.waiting.filter { !$0.isStopping }.map(\.signals)
                for index in state.waiting.indices { state.waiting[index].isStopping = true }
                return stopped
            }
            for signals in stopped {
                signals.whenStopped()
                signals.stops.continuation.yield(number)
            }
        }
    }
}
