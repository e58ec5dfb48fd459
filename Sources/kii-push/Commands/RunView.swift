import KiiPushCore

/// Shows what an agent and its program go through: on the console, to the service manager, and in the journal. An actor, so
/// that lines come out one after the other.
actor RunView {
    /// How the agent stands with its broker.
    struct Connection: Sendable, Hashable {
        enum State: String, Sendable {
            case starting
            case connected
            case offline
        }

        var state = State.starting
        var since = Timestamp.now()
        /// The text of the console.
        var text = "Starting."
    }

    /// Who else is told.
    struct Listeners: Sendable {
        var notifier = ServiceNotifier(path: nil)
        var journal: Journal?
        var offline: OfflineLimit?
        /// Told when no message follows.
        var stopping: @Sendable () -> Void = {}
        /// Told that nothing can be shown any more.
        var failed: @Sendable (any Error) -> Void = { _ in }
    }

    private let console: Console
    private let installationID: String
    private let notes: MessageNotes
    private let listeners: Listeners
    private(set) var connection = Connection()
    /// Whether somebody reads standard output.
    private var isRead = true
    /// Which attempt of a message is under way, and when it began.
    private var started: [Int64: (attempt: Int, at: ContinuousClock.Instant)] = [:]

    init(console: Console, installationID: String, notes: MessageNotes, listeners: Listeners) {
        self.console = console
        self.installationID = installationID
        self.notes = notes
        self.listeners = listeners
    }

    func show(_ event: PushEvent) {
        do {
            switch event {
            case .connected(let connection):
                try self.say { try self.console.show(connection, of: self.installationID) }
                let text = Console.text(of: connection, installationID: self.installationID)
                self.connection = Connection(state: .connected, text: text)
                self.listeners.offline?.clear()
                self.listeners.notifier.connected(text)
            case .disconnected(let reason, let retryIn):
                try self.say { try self.console.show(trouble: "offline", reason, retryIn: retryIn) }
                let text = "offline: \(reason.terminalSafe); retry in \(retryIn.text)"
                if self.connection.state != .offline { self.connection = Connection(state: .offline) }
                self.connection.text = text
                self.listeners.offline?.offline()
                self.listeners.notifier.offline(text, retryIn: retryIn)
            case .message(let event): try self.show(event)
            case .stopping: self.listeners.stopping()
            case .subscribed(let target): self.console.detail("subscribed to \(target.text.terminalSafe)")
            case .subscriptionFailed(let target, let reason, let retryIn):
                let text = "\(target.text): \(reason)"
                try self.say { try self.console.show(trouble: "not subscribed", text, retryIn: retryIn) }
            default: try self.say { try self.console.show(event) }
            }
        } catch {
            self.listeners.failed(error)
        }
    }

    /// Writes to standard output. That its reader has gone away ends nothing: messages are handled all the same.
    private func say(_ body: () throws -> Void) throws {
        guard self.isRead else { return }
        do {
            try body()
        } catch is BrokenPipe {
            self.isRead = false
            self.console.warning("nobody reads the output any more; going on without it")
        }
    }

    private func show(_ event: MessageEvent) throws {
        let id = event.messageID
        if case .started(let attempt) = event.kind { self.started[id] = (attempt, .now) }
        let call = self.started[id]
        let note = call.flatMap { self.notes.note(of: id, attempt: $0.attempt) }
        let elapsed = call.map { ContinuousClock.now - $0.at }
        if event.isOutcome {
            self.started[id] = nil
            self.notes.forget(id, attempt: call?.attempt)
        }
        let isWritten = self.write(event, elapsed, note)
        // Both streams end in one journal: the entry with the fields is the better one.
        if isWritten, self.listeners.journal?.hasStandardOutput == true, !self.console.options.json { return }
        try self.say { try self.console.show(event, after: elapsed, outcome: note?.outcome) }
    }

    /// - Returns: whether the journal has it.
    private func write(_ event: MessageEvent, _ elapsed: Duration?, _ note: MessageNotes.Note?) -> Bool {
        guard let journal = self.listeners.journal,
            let verdict = self.console.verdict(event, after: elapsed, outcome: note?.outcome)
        else { return false }
        var fields = [("KII_MESSAGE_ID", String(event.messageID)), ("KII_RESULT", verdict.word)]
        if let note { fields.append(("KII_KIND", note.kind)) }
        switch note?.source {
        case .topic(let name): fields.append(("KII_TOPIC", name))
        case .bucket(let name): fields.append(("KII_BUCKET", name))
        case nil: break
        }
        let priority: Journal.Priority =
            switch verdict.word {
            case "dead": .error
            case "failed", "late": .warning
            default: .information
            }
        return journal.write(verdict.text, priority, fields)
    }

    /// Shows what the program does, on standard error.
    func showProgram(_ event: Activator.Event) {
        let text = "program: \(event.description.terminalSafe)"
        switch event {
        case .started, .ended, .leftoverEnded: self.console.detail(text)
        case .startFailed, .terminated, .misspoke, .processFileFailed: self.console.warning(text)
        }
    }
}
