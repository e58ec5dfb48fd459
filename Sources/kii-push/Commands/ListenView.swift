import KiiPushCommandLine
import KiiPushCore

/// The handler of `listen`: shows an agent's messages and events, and answers the messages.
///
/// The thread that calls the handler shows the message and blocks until the line is written. So messages come no faster
/// than the reader of the output reads. Messages before ``open()`` wait. Other events arrive on any thread. A task
/// shows them, or the thread of the next message.
final class ListenView: RemoteNotificationHandler {
    private struct Call {
        var message: ReceivedMessage
        var context: DeliveryContext
        var completion: FetchCompletion
    }

    private struct State {
        var setsAside: Bool
        var setAsideCount = 0
        var completedCount = 0
        /// With a count: the IDs of the messages that were shown.
        var admitted: Set<Int64> = []
        var answerLast: (@Sendable () -> Void)?
        var isStopping = false
        var lastTrouble: String?
        var told: [PushEvent] = []
        /// Whether the view shows messages at once. Before the connection's state is shown, messages wait in `held` for
        /// at most 5 s.
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
    private let output: Locked<EventView>
    private let end = OneShot<ListenEnding?>()
    private let connection = OneShot<Bool>()
    private let news = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))

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

    var completedCount: Int { self.state.withLock { $0.completedCount } }
    var setAsideCount: Int { self.state.withLock { $0.setAsideCount } }

    var lastTrouble: String? { self.state.withLock { $0.lastTrouble } }

    func ending() async -> ListenEnding? { await self.end.value(onCancel: nil) }

    func connected() async -> Bool { await self.connection.value(onCancel: false) }

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
            // Records the message after showing it: the next `listen` shows and records messages that were not shown.
            if isNew { try self.style.recorder?.record(call.message, call.context) }
            try self.style.recorder?.waitUntilWritten()
            self.answer(call)
        } catch {
            self.leave(call, since: error)
        }
    }

    /// Shows and answers the held messages. Later messages are shown at once.
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

    private func show(_ call: Call) throws -> Bool {
        try self.output.withLock { output in
            try self.showQueued(&output)
            return try output.began(call.message, call.context)
        }
    }

    /// Gives up a message that could not be shown or recorded. The next `listen` shows the message again. With an inbox
    /// in memory the attempt fails.
    private func leave(_ call: Call, since error: any Error) {
        if self.state.withLock({ $0.setsAside }) { call.completion.setAside() }
        // If nobody reads the output, the command is ending already.
        if case SilentExit.unreadOutput = error { return }
        self.end.resume(.failed(error))
    }

    private func answer(_ call: Call) {
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
        // Answers the last message only when no other message can start, so that no message is answered without being
        // shown.
        let isStopping = self.state.withLock { state in
            if !state.isStopping { state.answerLast = answer }
            return state.isStopping
        }
        if isStopping { answer() } else { self.end.resume(.counted) }
    }

    /// Answers a message or command that the filter hides: sets it aside for the next process that receives. With an
    /// inbox in memory the answer is `noData`, because a message that is set aside would delay the acknowledgement of
    /// later messages.
    fileprivate func hide(_ completion: FetchCompletion) {
        guard self.state.withLock({ $0.setsAside }) else {
            completion(.noData)
            return
        }
        if completion.setAside() { self.state.withLock { $0.setAsideCount += 1 } }
    }

    /// `listen` does not show thing-if commands that arrive, so every filter hides them.
    fileprivate var hidesCommands: Bool { !self.filter.isEmpty }

    func observe(_ event: PushEvent) {
        switch event {
        case .stopping:
            let (answer, held) = self.state.withLock { state in
                defer { state.held = [] }
                state.isStopping = true
                return (state.answerLast.take(), state.held)
            }
            answer?()
            // The held messages are not shown, because this thread must not block on output. If the inbox is a file,
            // the next `listen` shows them.
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

    func showQueued() async {
        for await _ in self.news.stream {
            await self.catchUp()
            // During many events, one wake-up per millisecond is cheaper than one per event.
            try? await Task.sleep(for: .milliseconds(1))
        }
        await self.catchUp()
    }

    /// Tells the user, who has stopped the command, which attempts are still running.
    func showWaiting() {
        guard let text = self.bridge?.notes.waitingText(HandlerOptions.longest) else { return }
        self.console.status(text)
    }

    func finish() { self.news.continuation.finish() }

    private func catchUp() async {
        do {
            repeat {
                let isStateShown = try self.output.withLock { output in try self.showQueued(&output, atMost: Self.page)
                }
                try await self.style.written()
                if isStateShown { await self.open() }
            } while !self.state.withLock({ $0.told.isEmpty })
        } catch SilentExit.unreadOutput {
        } catch {
            self.end.resume(.failed(error))
        }
    }

    @discardableResult
    private func showQueued(_ output: inout EventView, atMost limit: Int = .max) throws -> Bool {
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
                self.connection.resume(true)
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

    static let hidesForGood =
        "> Messages that the filter hides are done: an inbox in memory cannot keep them for later."
}

/// ``ListenView`` for agents that also handle commands of thing-if: a program or server handles them, or a filter
/// leaves them to the next process that receives.
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
