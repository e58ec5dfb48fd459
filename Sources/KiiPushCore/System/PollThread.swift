import Glibc

/// A thread that waits in poll(2) for messages, for descriptors and for a time, and has its loop take a turn when one of
/// them has come.
package final class PollThread<Message: Sendable>: Sendable {
    private struct State: Sendable {
        var messages: [Message] = []
        /// `nil` without descriptors, and until the thread is started.
        var waker: Waker?
        /// Taken by the caller that joins it.
        var thread: OSThread?
        var isStarted = false
        /// Nobody takes messages any more.
        var isClosed = false
        /// The loop has ended.
        var isOver = false

        mutating func takeMessages() -> [Message] {
            defer { self.messages = [] }
            return self.messages
        }
    }

    private let name: String
    private let watchesDescriptors: Bool
    private let state = Monitor(State())

    /// - Parameters:
    ///   - name: `ps -L` shows it, 15 bytes at most.
    ///   - watchesDescriptors: whether the loop may wait for descriptors. A thread that never does so takes none itself.
    ///     Default: yes.
    package init(name: String, watchesDescriptors: Bool = true) {
        self.name = name
        self.watchesDescriptors = watchesDescriptors
    }

    deinit { self.state.withLock { $0.thread.take() }?.detach() }

    /// Starts the thread. The first call alone does anything, and none after ``stop()`` or ``cancel()``; the next call may
    /// succeed where one has failed.
    ///
    /// - Parameter makeLoop: called on the thread; `nil` ends it.
    package func start(_ makeLoop: @escaping @Sendable () -> (any PollLoop<Message>)?) throws(SystemError) {
        try self.state.withLock { state throws(SystemError) in
            guard !state.isStarted, !state.isClosed else { return }
            let waker = self.watchesDescriptors ? try Waker() : nil
            state.thread = try OSThread(name: self.name) { [self] in
                if let loop = makeLoop() { self.run(loop, waker) }
                self.state.withLock { state in
                    state.isClosed = true
                    state.isOver = true
                }
                self.state.signalAll()
            }
            state.waker = waker
            state.isStarted = true
        }
    }

    /// Leaves a message for the loop.
    ///
    /// - Returns: false if nobody takes it: the thread is not started, or is about to end.
    @discardableResult
    package func send(_ message: Message) -> Bool {
        let isOpen = self.state.withLock { state in
            guard state.isStarted, !state.isClosed else { return false }
            state.messages.append(message)
            return true
        }
        if isOpen { self.wakeUp() }
        return isOpen
    }

    /// Whether the thread is about to end, or has ended. A loop asks during a turn that takes long.
    package var isStopping: Bool { self.state.withLock { $0.isClosed } }

    /// Has the loop end after its turn, and returns at once.
    ///
    /// - Returns: whether this is the first call, and the loop has not ended by itself.
    @discardableResult
    package func stop() -> Bool {
        let isFirst = self.state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        self.wakeUp()
        return isFirst
    }

    /// Keeps a thread from being started.
    ///
    /// - Returns: false if it was started.
    package func cancel() -> Bool {
        self.state.withLock { state in
            if !state.isStarted { state.isClosed = true }
            return !state.isStarted
        }
    }

    /// Waits for the end of the thread after ``stop()``, if it was started. Not from the thread itself.
    ///
    /// - Parameter patience: how long at most; `nil` for no limit. Default: `nil`.
    package func join(within patience: Duration? = nil) {
        let deadline = patience.map { MonotonicInstant.now() + $0 }
        let thread = self.state.wait { state -> WaitStep<OSThread?> in
            if state.isOver { return .leave(state.thread.take()) }
            let isVain = !state.isStarted || deadline.map { $0 <= .now() } ?? false
            return isVain ? .leave(nil) : .sleep(until: deadline)
        }
        thread?.join()
    }

    private func wakeUp() {
        if let waker = self.state.withLock({ $0.waker }) { waker.wakeUp() } else { self.state.signalAll() }
    }

    // MARK: - The thread

    private func run(_ loop: any PollLoop<Message>, _ waker: Waker?) {
        var loop = loop
        var readable: Set<Int32> = []
        while let messages = self.takeMessages(), let wait = loop.turn(messages, readable: readable) {
            if let waker {
                readable = Self.wait(wait, waker)
            } else {
                self.wait(until: wait.deadline)
            }
        }
        let unread = self.state.withLock { state in
            state.isClosed = true
            return state.takeMessages()
        }
        loop.end(unread)
    }

    /// - Returns: `nil` when the loop is to end.
    private func takeMessages() -> [Message]? { self.state.withLock { $0.isClosed ? nil : $0.takeMessages() } }

    /// A signal ends the wait too, and the loop takes a turn without news.
    private static func wait(_ wait: PollWait, _ waker: Waker) -> Set<Int32> {
        var entries = [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)] + wait.entries
        guard poll(&entries, nfds_t(entries.count), wait.deadline?.millisecondsLeft ?? -1) > 0 else { return [] }
        if entries[0].revents != 0 { waker.clear() }
        return Set(entries.filter { $0.revents & Int16(~POLLOUT) != 0 }.map { $0.fd })
    }

    private func wait(until deadline: MonotonicInstant?) {
        self.state.wait { state in
            let hasNews = state.isClosed || !state.messages.isEmpty || deadline.map { $0 <= .now() } ?? false
            return hasNews ? .leave(()) : .sleep(until: deadline)
        }
    }
}

/// The work of a ``PollThread``, with all that its thread alone uses.
package protocol PollLoop<Message> {
    associatedtype Message: Sendable

    /// Does all that can be done now. The first turn comes at once, with nothing.
    ///
    /// - Parameters:
    ///   - messages: the messages that came since the last turn, the oldest first.
    ///   - readable: the descriptors waited for that can be read, or have ended.
    /// - Returns: what ends the wait for the next turn, besides a message; `nil` to end the thread.
    mutating func turn(_ messages: [Message], readable: Set<Int32>) -> PollWait?

    /// The last call. Default: nothing.
    ///
    /// - Parameter unread: messages that came too late for a turn.
    mutating func end(_ unread: [Message])
}

extension PollLoop {
    package mutating func end(_ unread: [Message]) {}
}

/// The descriptors and the time that a ``PollLoop`` waits for.
package struct PollWait {
    fileprivate var entries: [pollfd] = []
    /// When the next turn comes at the latest; `nil` for no such time.
    package var deadline: MonotonicInstant?

    package init(until deadline: MonotonicInstant? = nil) { self.deadline = deadline }

    /// Also ends the wait at this time.
    package mutating func wake(at time: MonotonicInstant) { self.deadline = min(self.deadline ?? time, time) }

    /// Ends the wait when the descriptor can be read or has ended.
    ///
    /// - Parameters:
    ///   - descriptor: `nil` for none.
    ///   - reading: whether bytes to read end the wait. Default: yes.
    ///   - writing: whether room for bytes to write ends it. Default: no.
    package mutating func watch(_ descriptor: Int32?, reading: Bool = true, writing: Bool = false) {
        guard let descriptor else { return }
        let events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
        self.entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }
}
