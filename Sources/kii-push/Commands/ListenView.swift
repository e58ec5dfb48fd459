import KiiPushCore

/// Shows what an agent goes through, and says what becomes of its messages.
///
/// A message is shown on the thread that calls its handler, and what became of it on the one that stored that: both wait
/// until the line is out, so that nothing is taken up faster than it is read. How the connection stands is told from the
/// event loop, which waits for nobody, and is shown by a task.
final class ListenView: Sendable {
    private struct State {
        var log: ListenLog
        /// Which attempt is under way, where somebody outside answers.
        var attempts: [Int64: Int] = [:]
        /// Which messages were taken up; with a count, no more than that are answered.
        var admitted: Set<Int64> = []
        /// What answers the last of them.
        var answerLast: (@Sendable () -> Void)?
        /// Whether no message follows.
        var isStopping = false
        /// Of messages that the next run is to have.
        var left: [FetchCompletion] = []
        var lastTrouble: String?
    }

    private let console: Console
    private let filter: MessageFilter
    private let installationID: String
    private let result: FetchResult
    private let count: Int?
    /// Who answers instead.
    private let bridge: OutsideBridge?
    private let state: Locked<State>
    private let endings = AsyncStream.makeStream(of: ListenEnding.self, bufferingPolicy: .bufferingOldest(1))
    private let connections = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
    private let stateEvents = AsyncStream.makeStream(of: PushEvent.self)

    init(
        _ style: ListenLog.Style, installationID: String, result: FetchResult, count: Int?, bridge: OutsideBridge?
    ) {
        self.console = style.console
        self.filter = style.filter
        self.state = Locked(State(log: ListenLog(style, count: count)))
        self.installationID = installationID
        self.result = result
        self.count = count
        self.bridge = bridge
    }

    /// How many messages had an answer stored.
    var completedCount: Int { self.state.withLock { $0.log.completedCount } }

    /// Why there is no connection, in the agent's words.
    var lastTrouble: String? { self.state.withLock { $0.lastTrouble } }

    /// Why the view wants an end; `nil` when the task was cancelled first.
    func ending() async -> ListenEnding? {
        for await ending in self.endings.stream { return ending }
        return nil
    }

    /// Waits for the first connection; `false` when the task was cancelled first.
    func connected() async -> Bool {
        for await _ in self.connections.stream { return true }
        return false
    }

    // MARK: - Messages

    /// Shows a message that was handed over, and has it answered.
    func take(_ message: ReceivedMessage, _ context: DeliveryContext, _ completion: FetchCompletion) {
        // Nobody asked for it: it is done, and not shown.
        guard self.filter.matches(message) else {
            completion(.noData)
            return
        }
        let answer: @Sendable () -> Void = { [bridge = self.bridge, result = self.result] in
            guard let bridge else {
                completion(result)
                return
            }
            bridge.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
        }
        do {
            switch try self.state.withLock({ try self.admit(message, context, &$0, answer) }) {
            case .now: answer()
            case .last: self.endings.continuation.yield(.counted)
            case .never: self.state.withLock { $0.left.append(completion) }
            }
        } catch {
            // Let go of unanswered it has failed: what nobody could read comes again.
            self.endings.continuation.yield(.failed(error))
        }
    }

    /// When a message is answered.
    private enum Admission {
        case now
        /// When no other message is taken up any more, so that none is lost from sight.
        case last
        /// One too many, taken up while the agent was about to stop: the next run is to have it.
        case never
    }

    private func admit(
        _ message: ReceivedMessage, _ context: DeliveryContext, _ state: inout State,
        _ answer: @escaping @Sendable () -> Void
    ) throws -> Admission {
        if let count = self.count {
            guard state.admitted.count < count else { return .never }
            state.admitted.insert(context.messageID)
        }
        _ = try state.log.began(message, context)
        guard state.admitted.count == self.count, !state.isStopping else { return .now }
        state.answerLast = answer
        return .last
    }

    /// Told of everything, on the thread where it happens.
    func observe(_ event: PushEvent) {
        switch event {
        case .message(let event):
            do {
                try self.state.withLock { try self.show(event, &$0) }
            } catch {
                self.endings.continuation.yield(.failed(error))
            }
        case .stopping:
            self.bridge?.outside.hurry()
            let answer = self.state.withLock { state in
                state.isStopping = true
                return state.answerLast.take()
            }
            answer?()
        default: self.stateEvents.continuation.yield(event)
        }
    }

    private func show(_ event: MessageEvent, _ state: inout State) throws {
        guard let notes = self.bridge?.notes else { return try state.log.happened(event) }
        if case .started(let attempt) = event.kind { state.attempts[event.messageID] = attempt }
        let outcome = state.attempts[event.messageID].flatMap {
            notes.note(of: event.messageID, attempt: $0)?.outcome
        }
        if event.isOutcome {
            state.attempts[event.messageID] = nil
            notes.forget(event.messageID)
        }
        try state.log.happened(event, outcome: outcome)
    }

    // MARK: - Connection

    /// Shows how the connection stands, until ``finish()``.
    func showState() async {
        for await event in self.stateEvents.stream {
            do {
                try self.show(event)
            } catch {
                self.endings.continuation.yield(.failed(error))
            }
        }
    }

    /// The agent has ended.
    func finish() { self.stateEvents.continuation.finish() }

    private func show(_ event: PushEvent) throws {
        switch event {
        case .connected(let connection):
            self.state.withLock { $0.lastTrouble = nil }
            try self.console.show(connection, of: self.installationID)
            self.connections.continuation.yield()
        case .disconnected(let reason, let retryIn):
            self.state.withLock { $0.lastTrouble = reason }
            try self.console.show(trouble: "offline", reason, retryIn: retryIn)
        default: try self.console.show(event)
        }
    }
}
