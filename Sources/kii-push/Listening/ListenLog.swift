import KiiPushCore

/// What `listen` shows of messages and of what became of them, and what it remembers between the two.
struct ListenLog {
    /// How messages are shown, and which.
    struct Style: Sendable {
        var console: Console
        var filter: MessageFilter
        var format: MessageFormat?
        var recorder: MessageRecorder?
    }

    private struct Open {
        var message: ReceivedMessage
        var context: DeliveryContext
        var since = ContinuousClock.now
    }

    private let style: Style
    /// What was shown and has not come to anything.
    private var open: [Int64: Open] = [:]
    /// How many messages came to something.
    private(set) var completedCount = 0

    init(_ style: Style) { self.style = style }

    /// A message is handed to its handler.
    ///
    /// - Returns: whether it is one of those that are meant.
    mutating func began(_ message: ReceivedMessage, _ context: DeliveryContext) throws -> Bool {
        guard self.style.filter.matches(message) else { return false }
        self.open[context.messageID] = Open(message: message, context: context)
        try self.style.recorder?.record(message, context)
        guard let format = self.style.format else {
            try self.style.console.show(message, context)
            return true
        }
        if !format.wantsResult { try self.style.console.write(format, message, context) }
        return true
    }

    /// Something happened to a message. `outcome`: what is known of an attempt outside this process.
    mutating func happened(_ event: MessageEvent, outcome: HandlerOutcome? = nil) throws {
        let open = self.open[event.messageID]
        // What never reached a handler can be one of those that are meant only where all are.
        guard open != nil || self.style.filter.isEmpty else { return }
        if event.isOutcome {
            self.open[event.messageID] = nil
            self.completedCount += 1
        }
        guard let format = self.style.format else {
            return try self.style.console.show(
                event, after: open.map { ContinuousClock.now - $0.since }, outcome: outcome)
        }
        if format.wantsResult, let open, let word = event.resultWord {
            try self.style.console.write(format, open.message, open.context, result: word)
        }
    }
}

extension Console {
    /// A line of a person's own. On a terminal what comes from outside is made harmless.
    func write(
        _ format: MessageFormat, _ message: ReceivedMessage, _ context: DeliveryContext, result: String = ""
    ) throws {
        let bytes = format.text(
            of: message, context, json: { JSONValue.object(self.members(of: message, context)).text }, result: result,
            isSafe: StandardStream.output.isTerminal)
        try StandardStream.output.write(bytes)
    }
}
