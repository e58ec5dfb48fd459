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
    private let wakeUp: WakeUp

    init() throws(EmulatorError) { self.wakeUp = try WakeUp() }

    /// Readable while something may have come.
    var descriptor: Int32 { self.wakeUp.descriptor }

    /// Leaves a message; `false` when nobody will read it any more.
    func post(_ message: Message) -> Bool {
        let isOpen = self.state.withLock { state in
            if !state.isClosed { state.messages.append(message) }
            return !state.isClosed
        }
        if isOpen { self.wakeUp.signal() }
        return isOpen
    }

    func takeAll() -> [Message] {
        self.wakeUp.clear()
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
