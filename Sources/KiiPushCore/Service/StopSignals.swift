import Glibc

/// The signal handler writes to this pipe, and a thread reads it. The pipe stays open, because a handler may still run
/// on another thread after ``StopSignals/handBack()``.
private let signalPipe: (read: Int32, write: Int32, code: Int32, process: pid_t) = {
    var descriptors: [Int32] = [-1, -1]
    guard pipe(&descriptors) == 0 else { return (-1, -1, errno, getpid()) }
    for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (descriptors[0], descriptors[1], 0, getpid())
}()

private struct SignalState {
    var isRead = false
    var waiting: [(signals: StopSignals, isStopping: Bool)] = []
    var former: [Int32: sigaction] = [:]
}

private let signalState = Locked(SignalState())

/// Waits for SIGINT and SIGTERM. The first asks for a graceful stop. A second ends the process at once if every
/// `StopSignals` has received the first.
package final class StopSignals: Sendable {
    package typealias ThreadStart = (_ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

    private let stops = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
    private let asked = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(16))
    private let numbers: [Int32]
    private let whenStopped: @Sendable () -> Void

    /// Handles both signals until ``handBack()``. A signal that the process ignores stays ignored: a shell lets
    /// background jobs ignore SIGINT. Each signal reaches all objects that handle it.
    ///
    /// - Parameters:
    ///   - asks: further signals to handle. They stop nothing and arrive in ``asks``.
    ///   - whenStopped: called at the first SIGINT or SIGTERM, on a thread that it must not block.
    /// - Throws: ``SystemError`` if the system gives no pipe or no thread. The signals then keep their former actions.
    package init(
        asks: [Int32] = [],
        whenStopped: @escaping @Sendable () -> Void = {},
        startThread: ThreadStart = { body throws(SystemError) in try OSThread(name: "signals", body).detach() }
    ) throws(SystemError) {
        (self.numbers, self.whenStopped) = (asks, whenStopped)
        do throws(SystemError) {
            // Initialises the global pipe, because a signal handler must not do that.
            guard signalPipe.read >= 0 else { throw SystemError("no pipe can be made", code: signalPipe.code) }
            try signalState.withLock { state throws(SystemError) in
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

    package var asks: AsyncStream<Int32> { self.asked.stream }

    package func next() async -> Int32? {
        for await number in self.stops.stream { return number }
        return nil
    }

    /// Stops waiting. After the last object's call, each signal has its former action again.
    package func handBack() {
        signalState.withLock { state in
            state.waiting.removeAll { $0.signals === self }
            guard state.waiting.isEmpty else { return }
            for (number, var action) in state.former { sigaction(number, &action, nil) }
            state.former = [:]
        }
    }

    /// Returns the former action; `nil` if the process ignores the signal or sigaction(2) fails.
    private static func takeOver(_ number: Int32) -> sigaction? {
        var old = sigaction()
        guard sigaction(number, nil, &old) == 0 else { return nil }
        // Swift cannot compare function values, so this compares their addresses.
        let isIgnored =
            unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        guard !isIgnored else { return nil }
        var new = sigaction()
        new.__sigaction_handler.sa_handler = { number in
            // A child that was forked without exec inherits this handler, but must not use its parent's pipe.
            guard getpid() == signalPipe.process else {
                signal(number, SIG_DFL)
                raise(number)
                return
            }
            // signal-safety(7) allows write(2). The interrupted code may still need its errno.
            let interrupted = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(signalPipe.write, &byte, 1)
            errno = interrupted
        }
        // Go's threads have small stacks, so a Go program crashes if a handler runs without the alternate stack.
        new.sa_flags = SA_RESTART | SA_ONSTACK
        sigaction(number, &new, nil)
        return old
    }

    private static func readSignals() {
        var byte: UInt8 = 0
        while true {
            let count = read(signalPipe.read, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return }
            let number = Int32(byte)
            let stopped = signalState.withLock { state -> [StopSignals] in
                // The signal arrived before ``handBack()`` restored its former action, so this thread sends it again.
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
