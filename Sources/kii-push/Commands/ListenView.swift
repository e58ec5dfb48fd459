import KiiPushCore

/// Shows what an agent goes through, and says what becomes of its messages. An actor, so that lines come out one after the other.
actor ListenView: AgentView {
    private let console: Console
    private let filter: MessageFilter
    private let installationID: String
    private let result: FetchResult
    private let count: Int?
    /// Who answers instead.
    private let bridge: OutsideBridge?
    private let endings: AsyncStream<ListenEnding>
    private let endingContinuation: AsyncStream<ListenEnding>.Continuation
    private let connections: AsyncStream<Void>
    private let connectionContinuation: AsyncStream<Void>.Continuation
    private let stops: AsyncStream<Void>
    private let stopContinuation: AsyncStream<Void>.Continuation
    private var log: ListenLog
    /// Which attempt is under way.
    private var attempts: [Int64: Int] = [:]
    /// How many messages were taken up; with a count, no more than that are answered.
    private var admitted = 0
    /// How many messages had their answer stored.
    var completedCount: Int { self.log.completedCount }
    /// Why there is no connection, in the agent's words.
    private(set) var lastTrouble: String?

    init(
        _ style: ListenLog.Style, installationID: String, result: FetchResult, count: Int?, bridge: OutsideBridge?
    ) {
        self.console = style.console
        self.filter = style.filter
        self.log = ListenLog(style)
        self.installationID = installationID
        self.result = result
        self.count = count
        self.bridge = bridge
        (self.endings, self.endingContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        (self.connections, self.connectionContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        (self.stops, self.stopContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func ending() async -> ListenEnding? {
        for await ending in self.endings { return ending }
        return nil
    }

    func connected() async -> Bool {
        for await _ in self.connections { return true }
        return false
    }

    /// What is to be done with a message that was handed over.
    enum Admission: Sendable {
        case answer(FetchResult)
        /// The handler that was named answers.
        case handOver
        /// One too many, taken up while the agent was about to stop: left for the next run.
        case leave
    }

    /// Shows a message that was handed over.
    ///
    /// - Throws: what showing it throws: what nobody could read counts as not processed, and comes again.
    func admit(_ message: ReceivedMessage, _ context: DeliveryContext) async throws -> Admission {
        // Nobody asked for it: it is done, and not shown.
        guard self.filter.matches(message) else { return .answer(.noData) }
        let isLast = self.count.map { self.admitted + 1 == $0 } ?? false
        if let count = self.count, self.admitted >= count { return .leave }
        self.admitted += 1
        do {
            _ = try self.log.began(message, context)
        } catch {
            self.endingContinuation.yield(.failed(error))
            throw error
        }
        if isLast {
            self.endingContinuation.yield(.counted)
            // Answered only when no other message is taken up any more, so that none is lost from sight.
            for await _ in self.stops { break }
        }
        return self.bridge == nil ? .answer(self.result) : .handOver
    }

    func show(_ event: PushEvent) {
        do {
            switch event {
            case .connected(let connection):
                self.lastTrouble = nil
                try self.console.show(connection, of: self.installationID)
                self.connectionContinuation.yield()
            case .disconnected(let reason, let retryIn):
                self.lastTrouble = reason
                try self.console.show(trouble: "offline", reason, retryIn: retryIn)
            case .message(let event): try self.show(event)
            case .stopping:
                self.bridge?.outside.hurry()
                self.stopContinuation.yield()
            default: try self.console.show(event)
            }
        } catch {
            self.endingContinuation.yield(.failed(error))
        }
    }

    private func show(_ event: MessageEvent) throws {
        if case .started(let attempt) = event.kind { self.attempts[event.messageID] = attempt }
        let outcome = self.attempts[event.messageID].flatMap {
            self.bridge?.notes.note(of: event.messageID, attempt: $0)?.outcome
        }
        if event.isOutcome {
            self.attempts[event.messageID] = nil
            self.bridge?.notes.forget(event.messageID)
        }
        try self.log.happened(event, outcome: outcome)
    }
}
