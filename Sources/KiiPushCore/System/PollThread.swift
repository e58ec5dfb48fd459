import Glibc

/// A thread that waits for a message, a descriptor or a deadline, and then calls its loop's
/// ``PollLoop/turn(_:readable:)``.
package final class PollThread<Message: Sendable>: Sendable {
    private struct State: Sendable {
        var messages: [Message] = []
        var waker: Waker?
        var thread: OSThread?
        var isStarted = false
        var isClosed = false
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
    ///   - name: the thread's name in `ps -L`, at most 15 bytes.
    ///   - watchesDescriptors: whether the loop may wait for descriptors. Default: yes.
    package init(name: String, watchesDescriptors: Bool = true) {
        self.name = name
        self.watchesDescriptors = watchesDescriptors
    }

    deinit { self.state.withLock { $0.thread.take() }?.detach() }

    /// Starts the thread. Only the first call has an effect, unless it throws.
    ///
    /// - Parameter makeLoop: called on the new thread; `nil` ends the thread.
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

    /// - Returns: `false` if the thread has not been started or is ending.
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

    package var isStopping: Bool { self.state.withLock { $0.isClosed } }

    /// Asks the loop to end after its current turn; returns at once.
    ///
    /// - Returns: `true` for the first call, unless the loop has already ended by itself.
    @discardableResult
    package func stop() -> Bool {
        let isFirst = self.state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        self.wakeUp()
        return isFirst
    }

    /// - Returns: `false` if the thread has already been started; otherwise ``start(_:)`` no longer starts it.
    package func cancel() -> Bool {
        self.state.withLock { state in
            if !state.isStarted { state.isClosed = true }
            return !state.isStarted
        }
    }

    /// Waits for the thread to end, at most for `patience`; `nil` means no limit. Call ``stop()`` before. The thread
    /// itself must not call this.
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

    private func takeMessages() -> [Message]? { self.state.withLock { $0.isClosed ? nil : $0.takeMessages() } }

    /// A signal also ends the wait; the returned set is then empty.
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

/// The work of a ``PollThread``. Only that thread uses the loop.
package protocol PollLoop<Message> {
    associatedtype Message: Sendable

    /// Does all the work that is possible now. The first call may have no messages.
    ///
    /// - Parameters:
    ///   - messages: the messages since the last turn, oldest first.
    ///   - readable: the watched descriptors that are readable or closed by the peer.
    /// - Returns: the events that start the next turn, besides a message; `nil` to end the thread.
    mutating func turn(_ messages: [Message], readable: Set<Int32>) -> PollWait?

    /// Called once, when the thread ends. Default: does nothing.
    ///
    /// - Parameter unread: messages that no call of ``turn(_:readable:)`` has received.
    mutating func end(_ unread: [Message])
}

extension PollLoop {
    package mutating func end(_ unread: [Message]) {}
}

package struct PollWait {
    fileprivate var entries: [pollfd] = []
    package var deadline: MonotonicInstant?

    package init(until deadline: MonotonicInstant? = nil) { self.deadline = deadline }

    package mutating func wake(at time: MonotonicInstant) { self.deadline = min(self.deadline ?? time, time) }

    /// Ends the wait when the descriptor is ready or the peer has closed it. Ignores `nil`.
    package mutating func watch(_ descriptor: Int32?, reading: Bool = true, writing: Bool = false) {
        guard let descriptor else { return }
        let events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
        self.entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }
}
