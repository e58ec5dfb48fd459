import KiiPushCore

/// Shows what the process goes through that receives with the inbox, and whose handler answers.
actor AttachedListening {
    private var notices: ControlNotices
    private var reader: InboxReader
    private let directory: String
    private let console: Console
    private let installationID: String
    private let count: Int?
    private var log: ListenLog
    /// How many messages came to something.
    var completedCount: Int { self.log.completedCount }

    init(
        _ client: ControlClient, directory: String, _ style: ListenLog.Style, installationID: String, count: Int?
    ) throws {
        self.notices = try client.watch()
        self.reader = try InboxReader(stateDirectory: directory)
        self.directory = directory
        self.console = style.console
        self.installationID = installationID
        self.count = count
        self.log = ListenLog(style)
    }

    /// Shows until one of the reasons to end comes true.
    ///
    /// - Throws: ``CommandFailure`` when the signals cannot be waited for.
    nonisolated func run(timeout: Duration?) async throws -> ListenEnding {
        let signals = try StopSignals()
        return await withTaskGroup(of: ListenEnding?.self) { group in
            group.addTask { await self.show() }
            group.addTask { await signals.next().map { .signal($0) } }
            if let timeout {
                group.addTask { (try? await Task.sleep(for: timeout)).map { .timedOut } }
            }
            defer { group.cancelAll() }
            for await ending in group {
                if let ending { return ending }
            }
            return .stopped
        }
    }

    /// `nil` when cancelled.
    private func show() async -> ListenEnding? {
        do {
            repeat {
                for await notice in self.notices {
                    switch notice {
                    case .event(let event): try self.show(event)
                    case .missed(let count):
                        try self.console.show(trouble: "missed", "\(count) events, which were not read in time")
                    }
                    if let count = self.count, self.log.completedCount >= count { return .counted }
                }
            } while try await self.findSuccessor()
            return .stopped
        } catch is CancellationError {
            return nil
        } catch {
            return .failed(error)
        }
    }

    /// Waits a moment for a process that receives anew, as a service does that reads its files again.
    ///
    /// - Returns: whether there is one.
    private func findSuccessor() async throws -> Bool {
        for _ in 1...30 {
            try await Task.sleep(for: .milliseconds(100))
            guard let client = try ControlClient(stateDirectory: self.directory) else { continue }
            self.notices = try client.watch()
            self.reader = try InboxReader(stateDirectory: self.directory)
            self.console.status("> It receives anew.")
            return true
        }
        return false
    }

    private func show(_ event: PushEvent) throws {
        switch event {
        case .connected(let connection): try self.console.show(connection, of: self.installationID)
        case .disconnected(let reason, let retryIn):
            try self.console.show(trouble: "offline", reason, retryIn: retryIn)
        case .message(let event): try self.show(event)
        default: try self.console.show(event)
        }
    }

    private func show(_ event: MessageEvent) throws {
        // The socket tells what happens, and the inbox, which both processes may read, what it happens to.
        if case .started(let attempt) = event.kind { try self.began(event.messageID, attempt: attempt) }
        try self.log.happened(event)
    }

    private func began(_ messageID: Int64, attempt: Int) throws {
        let trace: MessageTrace
        do {
            trace = try self.reader.trace(of: messageID)
        } catch {
            return try self.console.show(trouble: "not shown", "#\(messageID): \(error)")
        }
        // A command of thing-if's is none.
        guard let message = try? ReceivedMessage(payload: trace.payload) else { return }
        let context = DeliveryContext(
            installationID: trace.installationID ?? self.installationID, messageID: trace.messageID,
            receivedAt: trace.receivedAt, attempt: attempt, deadlineInstant: .now())
        _ = try self.log.began(message, context)
    }
}
