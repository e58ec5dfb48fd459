import KiiPushCore

/// Shows what an agent goes through, and answers its messages. An actor, so that lines come out one after the other.
actor ListenView: AgentView, AsyncRemoteNotificationHandler {
    private let console: Console
    private let installationID: String
    private let result: FetchResult
    private let count: Int?
    private let endings: AsyncStream<ListenEnding>
    private let endingContinuation: AsyncStream<ListenEnding>.Continuation
    private let connections: AsyncStream<Void>
    private let connectionContinuation: AsyncStream<Void>.Continuation
    private let stops: AsyncStream<Void>
    private let stopContinuation: AsyncStream<Void>.Continuation
    /// When the call for a message began.
    private var started: [Int64: ContinuousClock.Instant] = [:]
    /// How many messages were taken up; with a count, no more than that are answered.
    private var admitted = 0
    /// How many messages had their answer stored.
    private(set) var completedCount = 0
    /// Why there is no connection, in the agent's words.
    private(set) var lastTrouble: String?

    init(console: Console, installationID: String, result: FetchResult, count: Int?) {
        self.console = console
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
        let isLast = self.count.map { self.admitted + 1 == $0 } ?? false
        if let count = self.count, self.admitted >= count {
            // One too many, taken up while the agent was about to stop: left for the next run.
            try await Task.sleep(for: .seconds(3600))
        }
        self.admitted += 1
        self.started[context.messageID] = .now
        do {
            try self.console.show(message, context)
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
            case .message(let event): try self.show(event)
            case .stopping: self.stopContinuation.yield()
            default: try self.console.show(event)
            }
        } catch {
            self.endingContinuation.yield(.failed(error))
        }
    }

    private func show(_ event: MessageEvent) throws {
        let elapsed = self.started[event.messageID].map { ContinuousClock.now - $0 }
        switch event.kind {
        case .done, .unreached, .dismissed, .dead, .retry, .handedBack:
            self.started[event.messageID] = nil
            self.completedCount += 1
        case .received, .joined, .started, .presented, .opened, .late, .stuck: break
        }
        try self.console.show(event, after: elapsed)
    }
}
