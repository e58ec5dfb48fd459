import KiiPushCommandLine
import KiiPushCore

/// The handler of `listen`: shows the work of an agent, and answers its messages.
///
/// The thread that calls the handler shows the message and waits until the line is written, so messages come no faster
/// than the reader reads. Other events come on any thread, such as the event loop's: a task or the next message shows
/// them. The task also shows messages that came before the state of the connection was shown; it blocks no thread.
final class ListenView: RemoteNotificationHandler {
    private struct Call {
        var message: ReceivedMessage
        var context: DeliveryContext
        var completion: FetchCompletion
    }

    /// State that the event loop may touch: its lock is never held while writing.
    private struct State {
        var setsAside: Bool
        var setAsideCount = 0
        var completedCount = 0
        /// Messages taken from the agent. With a count, only these are answered.
        var admitted: Set<Int64> = []
        var answerLast: (@Sendable () -> Void)?
        var isStopping = false
        var lastTrouble: String?
        var told: [PushEvent] = []
        /// Whether the state of the connection has been shown. Messages of the inbox wait for that.
        var isOpen = false
        var held: [Call] = []
    }

    private let style: EventView.Style
    private var console: Console { self.style.console }
    private var filter: MessageFilter { self.style.filter }
    private let result: FetchResult
    private let count: Int?
    private let bridge: OutsideBridge?
    private let state: Locked<State>
    /// State of the output, for the thread or task that writes.
    private let output: Locked<EventView>
    private let endings = AsyncStream.makeStream(of: ListenEnding.self, bufferingPolicy: .bufferingOldest(1))
    private let connections = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
    private let news = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))

    /// The number of events that a task shows before it waits for the reader.
    private static let page = 1000

    init(
        _ style: EventView.Style, installationID: String, result: FetchResult, count: Int?, bridge: OutsideBridge?,
        setsAside: Bool = true
    ) {
        self.state = Locked(State(setsAside: setsAside))
        self.style = style
        self.output = Locked(EventView(style, of: installationID, bridge?.notes, count: count))
        self.result = result
        self.count = count
        self.bridge = bridge
    }

    /// The number of messages with a stored answer.
    var completedCount: Int { self.state.withLock { $0.completedCount } }
    var setAsideCount: Int { self.state.withLock { $0.setAsideCount } }

    /// The reason for being offline, in the agent's words.
    var lastTrouble: String? { self.state.withLock { $0.lastTrouble } }

    /// The reason to end; `nil` when the task was cancelled first.
    func ending() async -> ListenEnding? { await self.endings.stream.first { _ in true } }

    /// Waits for the first connection; `false` when the task was cancelled first.
    func connected() async -> Bool { await self.connections.stream.first { _ in true } != nil }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        guard self.filter.matches(message) else { return self.hide(completion) }
        let call = Call(message: message, context: context, completion: completion)
        let isHeld = self.state.withLock { state in
            guard !state.isOpen, !state.isStopping else { return false }
            state.held.append(call)
            return true
        }
        guard !isHeld else { return }
        do {
            let isNew = try self.show(call)
            try StandardStream.output.waitUntilWritten()
            // Recorded only when shown, so that the recording has each message once.
            if isNew { try self.style.recorder?.record(call.message, call.context) }
            try self.style.recorder?.waitUntilWritten()
            self.answer(call)
        } catch {
            self.leave(call, since: error)
        }
    }

    /// Shows and answers the messages that wait for the state of the connection. Later messages do not wait.
    func open() async {
        let held = self.state.withLock { state in
            defer { state.held = [] }
            state.isOpen = true
            return state.held
        }
        for call in held {
            do {
                let isNew = try self.show(call)
                try await StandardStream.output.written()
                if isNew { try self.style.recorder?.record(call.message, call.context) }
                try await self.style.recorder?.written()
                self.answer(call)
            } catch {
                self.leave(call, since: error)
            }
        }
    }

    /// - Returns: whether to record the message.
    private func show(_ call: Call) throws -> Bool {
        try self.output.withLock { output in
            try self.showTold(&output)
            return try output.began(call.message, call.context)
        }
    }

    /// The message could not be shown or recorded: the next run gets it. In memory the attempt fails, so it is
    /// redelivered.
    private func leave(_ call: Call, since error: any Error) {
        if self.state.withLock({ $0.setsAside }) { call.completion.setAside() }
        // Unread output means that the command is ending anyway.
        if case SilentExit.unreadOutput = error { return }
        self.endings.continuation.yield(.failed(error))
    }

    /// The message was shown and recorded.
    private func answer(_ call: Call) {
        // With a count, the last message ends the command.
        let isLast = self.state.withLock { state in
            guard let count = self.count else { return false }
            state.admitted.insert(call.context.messageID)
            return state.admitted.count == count
        }
        let answer: @Sendable () -> Void = { [bridge = self.bridge, result = self.result] in
            if let bridge {
                bridge.didReceiveRemoteNotification(
                    call.message, context: call.context, fetchCompletionHandler: call.completion)
            } else {
                call.completion(result)
            }
        }
        guard isLast else { return answer() }
        // The last message is answered when no further one can start, so that none is answered without being shown.
        let isStopping = self.state.withLock { state in
            if !state.isStopping { state.answerLast = answer }
            return state.isStopping
        }
        if isStopping { answer() } else { self.endings.continuation.yield(.counted) }
    }

    /// Answers for a message, or a command of thing-if, that the filter hides: a later run gets it. Without a file the
    /// answer is `noData`, since an unanswered message would block the acknowledgement of later ones.
    fileprivate func hide(_ completion: FetchCompletion) {
        guard self.state.withLock({ $0.setsAside }) else {
            completion(.noData)
            return
        }
        if completion.setAside() { self.state.withLock { $0.setAsideCount += 1 } }
    }

    /// No view shows commands of thing-if, so every filter hides them.
    fileprivate var hidesCommands: Bool { !self.filter.isEmpty }

    /// Handles an event, on the thread where it happens.
    func observe(_ event: PushEvent) {
        switch event {
        case .stopping:
            let (answer, held) = self.state.withLock { state in
                defer { state.held = [] }
                state.isStopping = true
                return (state.answerLast.take(), state.held)
            }
            answer?()
            // These messages were not shown, and this thread must not wait for output.
            for call in held { call.completion.setAside() }
        case .message(let message) where !message.isSaid && self.bridge == nil: break
        default:
            if case .notice(.inboxInMemory, _, _) = event { self.state.withLock { $0.setsAside = false } }
            let isFirst = self.state.withLock { state in
                state.told.append(event)
                return state.told.count == 1
            }
            if isFirst { self.news.continuation.yield() }
        }
    }

    func showTold() async {
        for await _ in self.news.stream {
            await self.catchUp()
            // In a flood the next message shows earlier events; waking for each event would cost more.
            try? await Task.sleep(for: .milliseconds(1))
        }
        await self.catchUp()
    }

    /// Tells a person who has stopped the command which attempts still run.
    func sayWhatIsWaitedFor() {
        guard let text = self.bridge?.notes.waitingText(HandlerOptions.longest) else { return }
        self.console.status(text)
    }

    func finish() { self.news.continuation.finish() }

    private func catchUp() async {
        do {
            repeat {
                let isStateShown = try self.output.withLock { output in try self.showTold(&output, atMost: Self.page) }
                try await self.style.written()
                if isStateShown { await self.open() }
            } while !self.state.withLock({ $0.told.isEmpty })
        } catch SilentExit.unreadOutput {
            // The command is ending.
        } catch {
            self.endings.continuation.yield(.failed(error))
        }
    }

    /// - Returns: whether it has shown the state of the connection.
    @discardableResult
    private func showTold(_ output: inout EventView, atMost limit: Int = .max) throws -> Bool {
        let told = self.state.withLock { state in
            let told = state.told.prefix(limit)
            state.told.removeFirst(told.count)
            return told
        }
        defer {
            let count = output.completedCount
            self.state.withLock { $0.completedCount = count }
        }
        var isStateShown = false
        for event in told {
            try output.show(.event(event))
            switch event {
            case .connected:
                self.state.withLock { $0.lastTrouble = nil }
                self.connections.continuation.yield()
                isStateShown = true
            case .disconnected(let reason, _):
                self.state.withLock { $0.lastTrouble = reason }
                isStateShown = true
            case .notice(.inboxInMemory, _, _): if !self.filter.isEmpty { self.console.status(Self.hidesForGood) }
            default: break
            }
        }
        return isStateShown
    }

    /// The notice about hidden messages without an inbox to keep them.
    static let hidesForGood =
        "> Messages that the filter hides are done: an inbox in memory cannot keep them for later."
}

/// The view, where commands of thing-if have a handler: a program or server outside, as in `run`, or a filter, which
/// leaves them to a later run. Commands are not shown.
struct CommandTakingView: RemoteNotificationHandler, ThingCommandHandler {
    let messages: ListenView
    let bridge: OutsideBridge?

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.messages.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
    }

    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        guard let bridge = self.bridge, !self.messages.hidesCommands else { return self.messages.hide(completion) }
        bridge.didReceiveThingCommand(command, context: context, fetchCompletionHandler: completion)
    }
}
