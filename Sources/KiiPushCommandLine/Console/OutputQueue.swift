import Glibc
import KiiPushCore

/// Writes to a descriptor on its own thread, so that a slow reader blocks tasks only when 4 MiB are queued.
///
/// Tasks share a few threads. If tasks blocked in write(2), messages and the signal that ends the command could be
/// delayed.
package final class OutputQueue: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var put = 0
        var written = 0
        var failure: (any Error)?
        var hasThread = false
        /// Whether the thread sleeps until somebody wakes it.
        var isAsleep = false
        var isWriting = false
        /// The number of callers that sleep until bytes are written.
        var sleepers = 0
        var isLimited = false
        var isAbandoned = false
        var leftOut = 0
        var waiters: [(position: Int, written: OneShot<Void>)] = []

        var pending: Int { self.put - self.written }

        mutating func append(_ bytes: some Collection<UInt8>) {
            guard !self.isAbandoned else { return }
            self.waiting += bytes
            self.put += bytes.count
        }
    }

    private static let mostBytes = 4 << 20
    /// The longest time without progress after the command has begun to end. The queue then drops its output.
    private static let patience = Duration.seconds(2)

    private static let all = Locked<[OutputQueue]>([])

    /// The delay before the thread writes, so that a caller of ``waitUntilWritten()`` can write first.
    private static let delay = Duration.milliseconds(1)
    /// pipe(7): a pipe that poll(2) finds writable takes as many bytes without a wait, unless another process fills it
    /// in between.
    private static let atomicBytes = 4096

    private let descriptor: Int32
    private let name: String
    /// A terminal that poll(2) finds writable may still block a write.
    private let isTerminal: Bool
    private let state = Monitor(State())

    package init(descriptor: Int32, name: String) {
        (self.descriptor, self.name, self.isTerminal) = (descriptor, name, isatty(descriptor) == 1)
        Self.all.withLock { $0.append(self) }
    }

    /// Announces the end of the command. A queue then drops its output if the reader reads nothing for 2 s. Output to a
    /// regular file is not dropped.
    static func limitWaiting() { for queue in self.all.withLock({ $0 }) { queue.limitWaiting() } }

    /// Queues a line without waiting for room. If the queue is full, the line is dropped. A note before the next line
    /// tells the number of dropped lines.
    func putLine(_ bytes: [UInt8]) {
        self.put { state in
            guard state.pending < Self.mostBytes else { return state.leftOut += 1 }
            if state.leftOut > 0 {
                state.append("> \(state.leftOut) lines are left out here, which nobody read in time.\n".utf8)
                state.leftOut = 0
            }
            state.append(bytes)
        }
    }

    /// Queues bytes. Blocks while 4 MiB are queued already. Call ``written()`` to write no faster than the reader
    /// reads.
    ///
    /// - Throws: the error of an earlier write.
    package func put(_ bytes: [UInt8]) throws {
        try self.sleep { $0.pending < Self.mostBytes || $0.failure != nil }
        self.put { $0.append(bytes) }
    }

    /// Waits, without blocking a thread, until all earlier bytes are written.
    ///
    /// - Throws: ``SilentExit``; ``CommandFailure`` with exit 74.
    package func written() async throws {
        let waiter = OneShot<Void>()
        self.state.withLock { state in
            if state.pending == 0 { waiter.resume(()) } else { state.waiters.append((state.put, waiter)) }
        }
        self.state.signalAll()
        await waiter.value()
        if let failure = self.state.withLock({ $0.failure }) { throw failure }
    }

    /// Waits until all earlier bytes are written, and writes them on this thread if that does not block. Waking the
    /// other thread for each line costs more than the line.
    package func waitUntilWritten() throws {
        let end = self.state.withLock { $0.put }
        if !self.isTerminal { self.writeWaiting(waits: false) }
        try self.sleep { $0.written >= end }
    }

    private func sleep(until isDue: (State) -> Bool) throws {
        let isEarly = self.state.withLock { state in
            guard !isDue(state) else { return false }
            state.sleepers += 1
            return true
        }
        if isEarly {
            // The thread may be in its delay, which a sleeper ends.
            self.state.signalAll()
            self.state.wait { isDue($0) ? .leave(()) : .sleep(until: nil) }
            self.state.withLock { $0.sleepers -= 1 }
        }
        if let failure = self.state.withLock({ $0.failure }) { throw failure }
    }

    private func limitWaiting() {
        var status = stat()
        guard fstat(self.descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG else { return }
        let isFirst = self.state.withLock { state in
            defer { state.isLimited = true }
            return !state.isLimited
        }
        guard isFirst else { return }
        do throws(SystemError) {
            // A thread and no task: other tasks may occupy all threads of the task pool.
            try OSThread(name: "kii-output-end") {
                var last: Int?
                while case let (written, pending) = self.state.withLock({ ($0.written, $0.pending) }),
                    pending == 0 || written != last
                {
                    last = pending == 0 ? nil : written
                    let end = MonotonicInstant.now() + Self.patience
                    self.state.wait { _ in MonotonicInstant.now() >= end ? .leave(()) : .sleep(until: end) }
                }
                self.abandon()
            }.detach()
        } catch {
            self.abandon()
        }
    }

    private func abandon() {
        self.conclude { state in
            state.failure = state.failure ?? SilentExit.unreadOutput
            state.isAbandoned = true
            state.waiting = []
            state.written = state.put
        }
    }

    private func put(_ change: (inout State) -> Void) {
        let (isMissing, isAsleep) = self.state.withLock { state in
            change(&state)
            defer { (state.hasThread, state.isAsleep) = (true, false) }
            return (!state.hasThread, state.isAsleep)
        }
        guard isMissing else {
            if isAsleep { self.state.signalAll() }
            return
        }
        do {
            try OSThread(name: "kii-output") { self.run() }.detach()
        } catch {
            repeat {
                self.writeWaiting(waits: true)
            } while self.state.withLock({ state in
                state.hasThread = !state.waiting.isEmpty || state.isWriting
                return state.hasThread
            })
        }
    }

    private func run() {
        while true {
            self.state.wait { state in
                state.isAsleep = state.waiting.isEmpty || state.isWriting
                return state.isAsleep ? .sleep(until: nil) : .leave(())
            }
            let end = MonotonicInstant.now() + Self.delay
            self.state.wait { state in
                let isAwaited = state.sleepers > 0 || !state.waiters.isEmpty
                let isDue = state.waiting.isEmpty || isAwaited || MonotonicInstant.now() >= end
                return isDue ? .leave(()) : .sleep(until: end)
            }
            self.writeWaiting(waits: true)
        }
    }

    /// Writes what is queued, unless another thread is writing.
    ///
    /// - Parameter waits: whether to wait for a reader. Otherwise the rest stays in the queue.
    private func writeWaiting(waits: Bool) {
        let taken = self.state.withLock { state -> ArraySlice<UInt8>? in
            guard !state.isWriting, !state.waiting.isEmpty else { return nil }
            defer { (state.isWriting, state.waiting) = (true, []) }
            return state.waiting[...]
        }
        guard var rest = taken else { return }
        let failure = self.write(&rest, waits: waits)
        self.conclude { state in
            state.isWriting = false
            if let failure {
                state.failure = state.failure ?? failure
                state.written = min(state.written + rest.count, state.put)
            } else if !state.isAbandoned {
                state.waiting.insert(contentsOf: rest, at: 0)
            }
        }
    }

    private func write(_ rest: inout ArraySlice<UInt8>, waits: Bool) -> (any Error)? {
        while !rest.isEmpty {
            if !waits {
                var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
                guard poll(&entry, 1, 0) == 1, entry.revents & Int16(POLLOUT) != 0 else { return nil }
            }
            // A blocking write returns only when all is written, and ``limitWaiting()`` looks for progress.
            let piece = rest.prefix(waits ? 1 << 16 : Self.atomicBytes)
            let count = piece.withUnsafeBytes { Glibc.write(self.descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count > 0 {
                rest = rest.dropFirst(count)
                self.conclude { $0.written = min($0.written + count, $0.put) }
            } else if count < 0, code == EAGAIN {
                guard waits else { return nil }
                // The descriptor was inherited as non-blocking: wait until it is writable.
                var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if count == 0 || code != EINTR {
                return code == EPIPE
                    ? SilentExit.brokenPipe
                    : CommandFailure(.inputOutput, "cannot write \(self.name): \(errorText(code))")
            }
        }
        return nil
    }

    private func conclude(_ change: (inout State) -> Void) {
        let (waiters, isAwaited) = self.state.withLock { state in
            change(&state)
            defer { state.waiters.removeAll { $0.position <= state.written } }
            let isAwaited = state.sleepers > 0 || !state.waiting.isEmpty
            return (state.waiters.filter { $0.position <= state.written }, isAwaited)
        }
        if isAwaited { self.state.signalAll() }
        for waiter in waiters { waiter.written.resume(()) }
    }
}
