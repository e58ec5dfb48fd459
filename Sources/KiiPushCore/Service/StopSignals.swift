import Glibc

/// The pipe from the signal handler, which may do almost nothing, to the thread that acts on signals. The descriptors
/// stay open: a handler may still run on another thread after ``StopSignals/handBack()``.
private let signalPipe: (read: Int32, write: Int32, code: Int32, process: pid_t) = {
    var descriptors: [Int32] = [-1, -1]
    guard pipe(&descriptors) == 0 else { return (-1, -1, errno, getpid()) }
    for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (descriptors[0], descriptors[1], 0, getpid())
}()

private struct SignalState {
    /// Whether a thread reads the pipe.
    var isRead = false
    var waiting: [(signals: StopSignals, isStopping: Bool)] = []
    var former: [Int32: sigaction] = [:]
}

private let signalState = Locked(SignalState())

/// Waits for SIGINT and SIGTERM: the first asks for a graceful end, the second ends the process at once.
package final class StopSignals: Sendable {
    package typealias ThreadStart = (_ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

    private let stops = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
    private let asked = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(16))
    private let numbers: [Int32]
    private let whenStopped: @Sendable () -> Void

    /// Takes the two signals over until ``handBack()``. A signal that the parent process ignores stays ignored; a shell
    /// does that with SIGINT for a background job. Each signal reaches all objects that wait at that time.
    ///
    /// - Parameters:
    ///   - asks: further signals to take over, which end nothing; see ``asks``.
    ///   - whenStopped: called at the first SIGINT or SIGTERM, on a thread that it must not block.
    /// - Throws: ``SystemError`` if the system gives no pipe or no thread. The signals then do what they did before.
    package init(
        asks: [Int32] = [],
        whenStopped: @escaping @Sendable () -> Void = {},
        startThread: ThreadStart = { body throws(SystemError) in try OSThread(name: "signals", body).detach() }
    ) throws(SystemError) {
        (self.numbers, self.whenStopped) = (asks, whenStopped)
        do throws(SystemError) {
            // The pipe must exist before the handler can run: the first use of a global is not safe in a handler.
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

    /// The signals of `asks`, as they come. They do not end the process.
    package var asks: AsyncStream<Int32> { self.asked.stream }

    /// The first signal; `nil` when the task was cancelled before one came.
    package func next() async -> Int32? {
        for await number in self.stops.stream { return number }
        return nil
    }

    /// Stops waiting. When no object waits any more, each signal has its former action again. Without this call the
    /// process does not get them back.
    package func handBack() {
        signalState.withLock { state in
            state.waiting.removeAll { $0.signals === self }
            guard state.waiting.isEmpty else { return }
            for (number, var action) in state.former { sigaction(number, &action, nil) }
            state.former = [:]
        }
    }

    /// Returns the signal's former action; `nil` for an ignored signal, which stays as it is.
    private static func takeOver(_ number: Int32) -> sigaction? {
        var old = sigaction()
        guard sigaction(number, nil, &old) == 0 else { return nil }
        // A handler is compared by its address: function values have no identity in Swift.
        let isIgnored =
            unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        guard !isIgnored else { return nil }
        var new = sigaction()
        new.__sigaction_handler.sa_handler = { number in
            // A child that was forked without exec inherits this handler, and its signals are not its parent's.
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
        // Go's threads have small stacks: a Go program crashes unless the handler asks for the alternate stack.
        new.sa_flags = SA_RESTART | SA_ONSTACK
        sigaction(number, &new, nil)
        return old
    }

    /// Reads the pipe: the first signal goes to the waiting objects, the second ends the process.
    private static func readSignals() {
        var byte: UInt8 = 0
        while true {
            let count = read(signalPipe.read, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return }
            let number = Int32(byte)
            let stopped = signalState.withLock { state -> [StopSignals] in
                // The signal came before ``handBack()``. Sent again, it has its former action.
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
