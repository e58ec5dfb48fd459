import KiiPushActivation
import KiiPushCore

/// Shows what an agent and its program go through: on the console, and in the journal. An actor, so that lines come out one
/// after the other.
actor RunView {
    private let console: Console
    private let installationID: String
    private let notes: MessageNotes
    private let journal: Journal?
    private let failed: @Sendable (any Error) -> Void
    private var isRead = true
    /// Which attempt of a message is under way, and when it began.
    private var started: [MessageKey: (attempt: Int, at: ContinuousClock.Instant)] = [:]

    /// - Parameter failed: told that nothing can be shown any more.
    init(
        console: Console, installationID: String, notes: MessageNotes, journal: Journal? = nil,
        failed: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        (self.console, self.installationID) = (console, installationID)
        (self.notes, self.journal, self.failed) = (notes, journal, failed)
    }

    /// - Parameter agent: of a fleet the one that it happened to.
    func show(_ event: PushEvent, of agent: String? = nil) async {
        do {
            if case .message(let event) = event {
                return try await self.show(event, MessageKey(agent: agent, id: event.messageID))
            }
            try await self.say { try self.console.show(event, of: self.installationID) }
        } catch {
            self.failed(error)
        }
    }

    /// Shows something, and waits until it is read. That the reader of standard output has gone away ends nothing: messages
    /// are handled all the same, and standard error has its own reader.
    private func say(_ body: () throws -> Void) async throws {
        do {
            try body()
            try await StandardStream.output.written()
        } catch is BrokenPipe {
            if self.isRead { self.console.warning("nobody reads the output any more; going on without it") }
            self.isRead = false
        } catch is UnreadOutput {
            // It is to end.
        }
    }

    private func show(_ event: MessageEvent, _ message: MessageKey) async throws {
        if case .started(let attempt) = event.kind { self.started[message] = (attempt, .now) }
        let call = self.started[message]
        let note = call.flatMap { self.notes.note(of: message, attempt: $0.attempt) }
        let elapsed = call.map { ContinuousClock.now - $0.at }
        if event.isOutcome {
            self.started[message] = nil
            self.notes.forget(message, attempt: call?.attempt)
        }
        let isWritten = self.write(event, elapsed, note)
        // Both streams end in one journal: the entry with the fields is the better one.
        if isWritten, self.journal?.hasStandardOutput == true, !self.console.options.json { return }
        try await self.say { try self.console.show(event, after: elapsed, outcome: note?.outcome, of: message.agent) }
    }

    /// - Returns: whether the journal has it.
    private func write(_ event: MessageEvent, _ elapsed: Duration?, _ note: MessageNotes.Note?) -> Bool {
        guard let journal,
            let verdict = self.console.verdict(event, after: elapsed, outcome: note?.outcome)
        else { return false }
        var fields = [("KII_MESSAGE_ID", String(event.messageID)), ("KII_RESULT", verdict.word)]
        if let note { fields.append(("KII_KIND", note.kind)) }
        if let source = note?.source { fields.append(("KII_\(source.kind.rawValue.uppercased())", source.name)) }
        let priority: Journal.Priority =
            switch verdict.word {
            case "dead": .error
            case "failed", "late": .warning
            default: .information
            }
        return journal.write(verdict.text, priority, fields)
    }

    func showProgram(_ event: Activator.Event) {
        let text = "program: \(event.description.terminalSafe)"
        switch event {
        case .started, .ended, .leftoverEnded: self.console.detail(text)
        case .startFailed, .terminated, .misspoke, .processFileFailed: self.console.warning(text)
        }
    }
}
