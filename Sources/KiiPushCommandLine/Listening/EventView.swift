package import KiiPushCore

/// Shows messages, their outcomes and trouble of agents. The agents may be in this process or in another.
package struct EventView {
    package struct Style: Sendable {
        package var console: Console
        package var filter: MessageFilter
        package var format: MessageFormat?
        package var recorder: MessageRecorder?

        package init(
            console: Console, filter: MessageFilter = MessageFilter(), format: MessageFormat? = nil,
            recorder: MessageRecorder? = nil
        ) {
            self.console = console
            self.filter = filter
            self.format = format
            self.recorder = recorder
        }

        package func written() async throws {
            try await self.recorder?.written()
            try await StandardStream.output.written()
        }
    }

    private struct Open {
        var attempt: Int
        var since = ContinuousClock.now
        var line: MessageFormat.Line?
    }

    private let style: Style
    private let installationID: String
    private let notes: MessageNotes?
    private let isWatching: Bool
    private let journal: Journal?
    private var open: [MessageKey: Open] = [:]
    private let count: Int?
    private var completed: Set<Int64> = []
    /// The number of messages with an outcome; 0 if the initializer's `count` was `nil`.
    package var completedCount: Int { self.formerCount + self.completed.count }
    /// The part of ``completedCount`` from before the message numbers began at 1 again.
    private var formerCount = 0
    /// Whether the inbox is a file; `nil` if no event of a message has shown it yet.
    private var isKept: Bool?

    /// - Parameters:
    ///   - notes: facts about attempts by programs and servers.
    ///   - isWatching: whether the agents run in another process.
    ///   - count: the number of messages that the caller waits for, if any.
    package init(
        _ style: Style, of installationID: String, _ notes: MessageNotes? = nil, isWatching: Bool = false,
        count: Int? = nil, journal: Journal? = nil
    ) {
        self.style = style
        self.installationID = installationID
        self.notes = notes
        self.isWatching = isWatching
        self.count = count
        self.journal = journal
    }

    package mutating func show(_ notice: ControlNotice, of agent: String? = nil) throws {
        switch notice {
        case .event(.message(let event)): try self.show(event, MessageKey(agent: agent, id: event.messageID))
        case .event(let event): try self.style.console.show(event, of: self.installationID)
        case .unknown(let words):
            try self.style.console.show(
                trouble: "unknown",
                "1 event of a newer version: \(words); install the version of the process that receives")
        case .missed(let count):
            try self.style.console.show(
                trouble: "missed", "\(count.text(of: "event")) missed; 'kii-push inbox list' has the messages")
        }
    }

    /// Shows a message whose handler begins.
    ///
    /// - Returns: whether to record the message: it passes the filter, and this attempt was not shown before.
    package mutating func began(_ message: ReceivedMessage, _ context: DeliveryContext) throws -> Bool {
        guard self.style.filter.matches(message) else { return false }
        let key = MessageKey(id: context.messageID)
        // The message was already shown: an attempt is repeated with its number if its handler could not be started.
        guard self.open[key]?.line?.context.attempt != context.attempt else { return false }
        let line = MessageFormat.Line(message: message, context: context, time: .now())
        self.open[key] = Open(attempt: context.attempt, line: line)
        guard let format = self.style.format else {
            try self.style.console.show(message, context)
            return true
        }
        if !format.wantsResult { try self.style.console.write(format, line) }
        return true
    }

    /// Tells the view that another process receives from now on. If the inbox is in memory, message numbers begin at 1
    /// again.
    package mutating func receiverChanged() {
        if self.isKept == false { self.forgetNumbers() }
    }

    private mutating func forgetNumbers() {
        self.open = [:]
        self.formerCount = self.completedCount
        self.completed = []
        self.isKept = nil
    }

    private mutating func show(_ event: MessageEvent, _ message: MessageKey) throws {
        if self.isKept == true, !event.isKept { self.forgetNumbers() }
        self.isKept = event.isKept
        if case .started(let attempt) = event.kind { try self.started(event, message, attempt: attempt) }
        let open = self.open[message]
        let note = open.flatMap { self.notes?.note(of: message, attempt: $0.attempt) }
        if event.isOutcome {
            self.open[message] = nil
            self.notes?.forget(message, attempt: open?.attempt)
            if self.count != nil, open?.line != nil || self.isMeant(event) { self.completed.insert(message.id) }
        }
        guard open?.line != nil || self.style.filter.isEmpty else { return }
        let elapsed = open.map { ContinuousClock.now - $0.since }
        let isWritten = self.write(event, elapsed, note)
        // If the journal gets standard output too, one entry is enough: the entry with fields.
        if isWritten, self.journal?.hasStandardOutput == true, !self.style.console.json { return }
        guard let format = self.style.format else {
            return try self.style.console.show(event, after: elapsed, outcome: note?.outcome, of: message.agent)
        }
        if format.wantsResult, event.isOutcome, var line = open?.line, let word = event.resultWord {
            line.result = word
            try self.style.console.write(format, line)
        }
    }

    /// Whether to count a message that was not shown. Its attempt began before this process watched, or its notice was
    /// incomplete.
    private func isMeant(_ event: MessageEvent) -> Bool {
        guard self.isWatching, self.style.filter.isEmpty else { return false }
        if case .dead(_, attempt: nil) = event.kind { return false }
        return true
    }

    private mutating func started(_ event: MessageEvent, _ message: MessageKey, attempt: Int) throws {
        if case .handler(let received, let context)? = event.call {
            if try self.began(received, context) { try self.style.recorder?.record(received, context) }
            return
        }
        self.open[message, default: Open(attempt: attempt)].attempt = attempt
        guard case .omitted? = event.call else { return }
        let place = event.isKept ? "; 'kii-push trace \(message.id)' has it" : ""
        try self.style.console.show(
            trouble: "not shown",
            "#\(message.id): it is too long for the control socket, or was not read in time\(place)")
    }

    private func write(_ event: MessageEvent, _ elapsed: Duration?, _ note: MessageNotes.Note?) -> Bool {
        guard let journal,
            let verdict = self.style.console.verdict(event, after: elapsed, outcome: note?.outcome)
        else { return false }
        var fields = [("KII_MESSAGE_ID", String(event.messageID)), ("KII_RESULT", verdict.word)]
        if let note { fields.append(("KII_KIND", note.kind)) }
        if let source = note?.source { fields.append(("KII_\(source.kind.uppercased())", source.name)) }
        let priority: Journal.Priority =
            switch verdict.word {
            case "dead": .error
            case "failed", "late": .warning
            default: .information
            }
        return journal.write(verdict.text, priority, fields)
    }
}

extension Console {
    /// Writes a line in the user's format. On a terminal, texts of senders are escaped.
    package func write(_ format: MessageFormat, _ line: MessageFormat.Line) throws {
        try StandardStream.output.write(format.bytes(of: line, isSafe: StandardStream.output.isTerminal))
    }

    static func line(_ message: ReceivedMessage, _ context: DeliveryContext) -> String {
        String(decoding: JSONObjectWriter.bytes { message.describe(context, in: &$0) }, as: UTF8.self)
    }
}
