import KiiPushCommandLine
import KiiPushCore

/// The handler of `listen`: shows what an agent goes through, and has its messages answered.
///
/// A message is shown on the thread that calls its handler, which waits until the line is out, so that nothing is taken up
/// faster than it is read. Everything else is told where it happens, which may be on the event loop: it is kept, and shown
/// by a task or before the next message. A task shows those messages, too, that came before the state of the connection
/// was shown; it waits without a thread.
final class ListenView: RemoteNotificationHandler {
    private struct Call {
        var message: ReceivedMessage
        var context: DeliveryContext
        var completion: FetchCompletion
    }

    /// What those look at who wait for nobody.
    private struct State {
        var setsAside: Bool
        var setAsideCount = 0
        var completedCount = 0
        /// Which messages were taken up; with a count, no more than that are answered.
        var admitted: Set<Int64> = []
        var answerLast: (@Sendable () -> Void)?
        var isStopping = false
        var lastTrouble: String?
        var told: [PushEvent] = []
        /// Whether the state of the connection was shown. What the inbox held before waits for that.
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
    /// The part that a writer of lines looks at.
    private let output: Locked<EventView>
    private let endings = AsyncStream.makeStream(of: ListenEnding.self, bufferingPolicy: .bufferingOldest(1))
    private let connections = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
    private let news = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))

    /// A task shows as many events before it waits for the reader.
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

    /// How many messages had an answer stored.
    var completedCount: Int { self.state.withLock { $0.completedCount } }
    var setAsideCount: Int { self.state.withLock { $0.setAsideCount } }

    /// Why there is no connection, in the agent's words.
    var lastTrouble: String? { self.state.withLock { $0.lastTrouble } }

    /// Why the view wants an end; `nil` when the task was cancelled first.
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
            // Not before it is seen, so that no message is in the recording twice.
            if isNew { try self.style.recorder?.record(call.message, call.context) }
            try self.style.recorder?.waitUntilWritten()
            self.answer(call)
        } catch {
            self.leave(call, since: error)
        }
    }

    /// Shows what waits for the state of the connection, and has it answered. From now on nothing waits.
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

    /// - Returns: whether it is to be recorded.
    private func show(_ call: Call) throws -> Bool {
        try self.output.withLock { output in
            try self.showTold(&output)
            return try output.began(call.message, call.context)
        }
    }

    /// The message could not be shown or recorded: the next run has it. In memory it has failed, and comes again.
    private func leave(_ call: Call, since error: any Error) {
        if self.state.withLock({ $0.setsAside }) { call.completion.setAside() }
        // After unread output it is to end anyway.
        if !(error is UnreadOutput) { self.endings.continuation.yield(.failed(error)) }
    }

    /// The message was shown and recorded.
    private func answer(_ call: Call) {
        // Whether it is the last of those that are waited for.
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
        // It is answered when no other message is taken up any more, so that none is lost from sight.
        let isStopping = self.state.withLock { state in
            if !state.isStopping { state.answerLast = answer }
            return state.isStopping
        }
        if isStopping { answer() } else { self.endings.continuation.yield(.counted) }
    }

    /// Answers for a message, or a command of thing-if, that the filter hides: a later run gets it. Without a file it is
    /// done, since an unanswered one would keep those behind it from being acknowledged.
    fileprivate func hide(_ completion: FetchCompletion) {
        guard self.state.withLock({ $0.setsAside }) else {
            completion(.noData)
            return
        }
        if completion.setAside() { self.state.withLock { $0.setAsideCount += 1 } }
    }

    /// A command of thing-if's is shown to nobody, so every filter hides it.
    fileprivate var hidesCommands: Bool { !self.filter.isEmpty }

    /// Told of everything, on the thread where it happens.
    func observe(_ event: PushEvent) {
        switch event {
        case .stopping:
            let (answer, held) = self.state.withLock { state in
                defer { state.held = [] }
                state.isStopping = true
                return (state.answerLast.take(), state.held)
            }
            answer?()
            // They were not shown, and nobody may wait for output here.
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
            // In a flood the next message shows what was told before it; to be woken for each would cost more than that.
            try? await Task.sleep(for: .milliseconds(1))
        }
        await self.catchUp()
    }

    /// A person asked for the end.
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
        } catch is UnreadOutput {
            // It is to end.
        } catch {
            self.endings.continuation.yield(.failed(error))
        }
    }

    /// - Returns: whether the state of the connection was among it.
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

    /// What becomes of hidden messages where no inbox can keep them.
    static let hidesForGood =
        "> Messages that the filter hides are done: an inbox in memory cannot keep them for later."
}

/// The same where commands of thing-if have somebody who takes them: a program or server outside, as in `run`, or a filter,
/// which leaves them to a later run. They are not shown.
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
