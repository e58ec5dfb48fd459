import Glibc
import KiiPushCore

/// What other threads want of a thread that sits in `poll`.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State: Sendable {
        var messages: [Message] = []
        var isClosed = false

        mutating func takeAll() -> [Message] {
            defer { self.messages = [] }
            return self.messages
        }
    }

    private let state = Locked(State())
    private let waker: Waker

    init() throws(EmulatorError) {
        do throws(SystemError) {
            self.waker = try Waker()
        } catch {
            throw EmulatorError(error)
        }
    }

    /// Readable while something may have come.
    var descriptor: Int32 { self.waker.descriptor }

    /// Leaves a message; `false` when nobody will read it any more.
    func post(_ message: Message) -> Bool {
        let isOpen = self.state.withLock { state in
            if !state.isClosed { state.messages.append(message) }
            return !state.isClosed
        }
        if isOpen { self.waker.wakeUp() }
        return isOpen
    }

    /// Blocks until something may have come, and takes it.
    @discardableResult
    func wait() -> [Message] {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, -1)
        return self.takeAll()
    }

    func takeAll() -> [Message] {
        self.waker.clear()
        return self.state.withLock { $0.takeAll() }
    }

    /// Refuses all messages from now on and returns those that nobody has taken.
    func close() -> [Message] {
        self.state.withLock { state in
            state.isClosed = true
            return state.takeAll()
        }
    }
}
