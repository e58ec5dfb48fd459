import KiiPushCore

/// What `listen` shows of messages and of what became of them, and what it remembers between the two.
struct ListenLog {
    struct Style: Sendable {
        var console: Console
        var filter: MessageFilter
        var format: MessageFormat?
        var recorder: MessageRecorder?

        /// Waits until all is out that was shown and recorded.
        func written() async throws {
            try await self.recorder?.written()
            try await StandardStream.output.written()
        }
    }

    private struct Open {
        var line: MessageFormat.Line
        var since = ContinuousClock.now
    }

    private let style: Style
    /// What was shown and has not come to anything.
    private var open: [Int64: Open] = [:]
    private let count: Int?
    /// Which came to something, as far as they are counted.
    private var completed: Set<Int64> = []
    /// How many messages were shown and came to something, each counted once; nothing is counted where nobody waits.
    var completedCount: Int { self.formerCount + self.completed.count }
    /// Of them, those of a process whose numbers are given out again.
    private var formerCount = 0

    init(_ style: Style, count: Int?) { (self.style, self.count) = (style, count) }

    /// Whether the message was shown and has not come to anything yet.
    func isOpen(_ messageID: Int64) -> Bool { self.open[messageID] != nil }

    /// The process that receives has begun anew, and numbers its messages from 1.
    mutating func beginAnew() {
        self.open = [:]
        self.formerCount = self.completedCount
        self.completed = []
    }

    /// Counts a message that came to something. Nobody told how it began, so it is meant only where all are.
    mutating func count(_ messageID: Int64) {
        if self.count != nil, self.open[messageID] == nil, self.style.filter.isEmpty {
            self.completed.insert(messageID)
        }
    }

    /// Shows a message whose handler begins. Returns whether the recorder should keep the message: the filter lets it pass,
    /// and this attempt has not been shown before.
    mutating func began(_ message: ReceivedMessage, _ context: DeliveryContext) throws -> Bool {
        guard self.style.filter.matches(message) else { return false }
        // Its handler could not be started before, and this is the same attempt.
        guard self.open[context.messageID]?.line.context.attempt != context.attempt else { return false }
        let open = Open(line: .init(message: message, context: context, time: .now()))
        self.open[context.messageID] = open
        guard let format = self.style.format else {
            try self.style.console.show(message, context)
            return true
        }
        if !format.wantsResult { try self.style.console.write(format, open.line) }
        return true
    }

    /// Something happened to a message. `outcome`: what is known of an attempt outside this process.
    mutating func happened(_ event: MessageEvent, outcome: HandlerOutcome? = nil) throws {
        let open = self.open[event.messageID]
        // What never reached a handler can be one of those that are meant only where all are.
        guard open != nil || self.style.filter.isEmpty else { return }
        if event.isOutcome, open != nil {
            self.open[event.messageID] = nil
            if self.count != nil { self.completed.insert(event.messageID) }
        }
        guard let format = self.style.format else {
            return try self.style.console.show(
                event, after: open.map { ContinuousClock.now - $0.since }, outcome: outcome)
        }
        if format.wantsResult, event.isOutcome, let open, let word = event.resultWord {
            var line = open.line
            line.result = word
            try self.style.console.write(format, line)
        }
    }
}

extension ListenLog {
    /// A message that came to something is listed from the inbox: nobody told of it.
    mutating func caughtUp(_ trace: MessageRecord) throws {
        let message = try? ReceivedMessage(payload: trace.payload)
        let wasOpen = self.open.removeValue(forKey: trace.messageID) != nil
        guard wasOpen || message.map(self.style.filter.matches) ?? self.style.filter.isEmpty else { return }
        if self.count != nil { self.completed.insert(trace.messageID) }
        try self.style.show(trace, message)
    }
}

extension Console {
    /// A line of a person's own. On a terminal what comes from outside is made harmless.
    func write(_ format: MessageFormat, _ line: MessageFormat.Line) throws {
        try StandardStream.output.write(format.bytes(of: line, isSafe: StandardStream.output.isTerminal))
    }

    static func line(_ message: ReceivedMessage, _ context: DeliveryContext) -> String {
        String(decoding: JSONObjectWriter.bytes { message.describe(context, in: &$0) }, as: UTF8.self)
    }
}
