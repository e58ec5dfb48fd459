import KiiPushCore

/// Shows what an agent goes through, and answers its messages. An actor, so that lines come out one after the other.
actor ListenView: AgentView, AsyncRemoteNotificationHandler {
    private let console: Console
    private let filter: MessageFilter
    private let installationID: String
    private let result: FetchResult
    private let count: Int?
    private let endings: AsyncStream<ListenEnding>
    private let endingContinuation: AsyncStream<ListenEnding>.Continuation
    private let connections: AsyncStream<Void>
    private let connectionContinuation: AsyncStream<Void>.Continuation
    private let stops: AsyncStream<Void>
    private let stopContinuation: AsyncStream<Void>.Continuation
    private var log: ListenLog
    /// How many messages were taken up; with a count, no more than that are answered.
    private var admitted = 0
    /// How many messages had their answer stored.
    var completedCount: Int { self.log.completedCount }
    /// Why there is no connection, in the agent's words.
    private(set) var lastTrouble: String?

    init(_ style: ListenLog.Style, installationID: String, result: FetchResult, count: Int?) {
        self.console = style.console
        self.filter = style.filter
        self.log = ListenLog(style)
        self.installationID = installationID
        self.result = result
        self.count = count
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

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext
    ) async throws -> FetchResult {
        // Nobody asked for it: it is done, and not shown.
        guard self.filter.matches(message) else { return .noData }
        let isLast = self.count.map { self.admitted + 1 == $0 } ?? false
        if let count = self.count, self.admitted >= count {
            // One too many, taken up while the agent was about to stop: left for the next run.
            try await Task.sleep(for: .seconds(3600))
        }
        self.admitted += 1
        do {
            _ = try self.log.began(message, context)
        } catch {
            // What nobody could read counts as not processed, and comes again.
            self.endingContinuation.yield(.failed(error))
            throw error
        }
        if isLast {
            self.endingContinuation.yield(.counted)
            // Answered only when no other message is taken up any more, so that none is lost from sight.
            for await _ in self.stops { break }
        }
        return self.result
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
            case .message(let event): try self.log.happened(event)
            case .stopping: self.stopContinuation.yield()
            default: try self.console.show(event)
            }
        } catch {
            self.endingContinuation.yield(.failed(error))
        }
    }
}
