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

    private let descriptor: Int32
    private let name: String
    private let state = Monitor(State())

    package init(descriptor: Int32, name: String) {
        (self.descriptor, self.name) = (descriptor, name)
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
        self.state.wait { $0.pending < Self.mostBytes || $0.failure != nil ? .leave(()) : .sleep(until: nil) }
        if let failure = self.state.withLock({ $0.failure }) { throw failure }
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
        await waiter.value()
        if let failure = self.state.withLock({ $0.failure }) { throw failure }
    }

    package func waitUntilWritten() throws {
        let end = self.state.withLock { $0.put }
        self.state.wait { $0.written >= end ? .leave(()) : .sleep(until: nil) }
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
        let isMissing = self.state.withLock { state in
            change(&state)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard isMissing else { return self.state.signalAll() }
        do {
            try OSThread(name: "kii-output") { self.run() }.detach()
        } catch {
            repeat {
                self.writeWaiting()
            } while self.state.withLock({ state in
                state.hasThread = !state.waiting.isEmpty
                return state.hasThread
            })
        }
    }

    private func run() {
        while true {
            self.state.wait { $0.waiting.isEmpty ? .sleep(until: nil) : .leave(()) }
            self.writeWaiting()
        }
    }

    private func writeWaiting() {
        var rest = self.state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting[...]
        }
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(self.descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count > 0 {
                rest = rest.dropFirst(count)
                self.conclude { $0.written = min($0.written + count, $0.put) }
            } else if count < 0, code == EAGAIN {
                // The descriptor was inherited as non-blocking: wait until it is writable.
                var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if count == 0 || code != EINTR {
                let failure: any Error =
                    code == EPIPE
                    ? SilentExit.brokenPipe
                    : CommandFailure(.inputOutput, "cannot write \(self.name): \(errorText(code))")
                self.conclude { state in
                    state.failure = state.failure ?? failure
                    state.written = min(state.written + rest.count, state.put)
                }
                return
            }
        }
    }

    private func conclude(_ change: (inout State) -> Void) {
        let waiters = self.state.withLock { state in
            change(&state)
            defer { state.waiters.removeAll { $0.position <= state.written } }
            return state.waiters.filter { $0.position <= state.written }
        }
        self.state.signalAll()
        for waiter in waiters { waiter.written.resume(()) }
    }
}
