import KiiPushCore

/// Shows what an agent and its program go through. An actor, so that lines come out one after the other.
actor RunView: AgentView {
    private let console: Console
    private let installationID: String
    private let endings: AsyncStream<ListenEnding>
    private let endingContinuation: AsyncStream<ListenEnding>.Continuation
    private let programEvents: AsyncStream<Activator.Event>
    private let programContinuation: AsyncStream<Activator.Event>.Continuation
    /// Which attempt of a message is under way, and when it began.
    private var started: [Int64: (attempt: Int, at: ContinuousClock.Instant)] = [:]
    /// What knows how attempts went that somebody outside this process made.
    private var bridge: OutsideBridge?

    init(console: Console, installationID: String) {
        self.console = console
        self.installationID = installationID
        (self.endings, self.endingContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        (self.programEvents, self.programContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
    }

    func ending() async -> ListenEnding? {
        for await ending in self.endings { return ending }
        return nil
    }

    func connected() async -> Bool { true }

    func show(_ event: PushEvent) {
        do {
            switch event {
            case .connected(let connection): try self.console.show(connection, of: self.installationID)
            case .disconnected(let reason, let retryIn):
                try self.console.show(trouble: "offline", reason, retryIn: retryIn)
            case .message(let event): try self.show(event)
            case .stopping: self.bridge?.outside.hurry()
            default: try self.console.show(event)
            }
        } catch {
            self.endingContinuation.yield(.failed(error))
        }
    }

    private func show(_ event: MessageEvent) throws {
        if case .started(let attempt) = event.kind { self.started[event.messageID] = (attempt, .now) }
        let call = self.started[event.messageID]
        let outcome = call.flatMap { self.bridge?.outcome(of: event.messageID, attempt: $0.attempt) }
        if event.isOutcome {
            self.started[event.messageID] = nil
            self.bridge?.forget(event.messageID)
        }
        try self.console.show(event, after: call.map { ContinuousClock.now - $0.at }, outcome: outcome)
    }

    /// Shows with a verdict what this one knows about it.
    func shows(_ bridge: OutsideBridge?) { self.bridge = bridge }

    /// Takes what the program does; returns at once.
    nonisolated func report(_ event: Activator.Event) { self.programContinuation.yield(event) }

    /// Nothing more comes of the program.
    nonisolated func endProgram() { self.programContinuation.finish() }

    /// Shows what the program does, on standard error, until ``endProgram()``.
    func showProgram() async {
        for await event in self.programEvents {
            let text = "program: \(event.description.terminalSafe)"
            switch event {
            case .started, .ended, .leftoverEnded: self.console.detail(text)
            case .startFailed, .terminated, .misspoke, .processFileFailed: self.console.warning(text)
            }
        }
    }
}
