package import KiiPushCore

/// Lines while receiving: `-->` marks a message, `<--` its outcome, `!` trouble, and `>` a change of state.
extension Console {
    package func show(_ message: ReceivedMessage, _ context: DeliveryContext, at time: Timestamp = .now()) throws {
        guard !self.json else { return try self.object("message") { message.describe(context, in: &$0) } }
        let text = MessageText(message)
        let kind = self.style(message.kind.text.padded(to: 14), .bold)
        let attempt = context.attempt > 1 ? "  " + self.style("attempt \(context.attempt)", .magenta) : ""
        let size = "\(message.payloadBytes.count) B"
        let head =
            "\(time.localMoment) --> \(kind) \(text.source.padded(to: 24)) \(size)  #\(context.messageID)\(attempt)"
        let summary = text.summary
        let details = (summary.isEmpty ? [] : [summary]) + text.findings
        try self.line(([head] + details).joined(separator: "\n                 "))
    }

    /// Shows the event if it tells the outcome of a message.
    ///
    /// - Parameters:
    ///   - elapsed: the time since the handler was called.
    ///   - outcome: the result of the program or server that handled the message, if known.
    package func show(
        _ event: MessageEvent, after elapsed: Duration?, outcome: HandlerOutcome? = nil, of agent: String? = nil,
        at time: Timestamp = .now()
    ) throws {
        guard let verdict = MessageVerdict(event, tellsCause: outcome == nil) else { return }
        try self.show(verdict, of: MessageKey(agent: agent, id: event.messageID), elapsed, outcome, at: time)
    }

    package func show(_ message: ReceivedMessage, _ context: DeliveryContext, endedAs trace: MessageRecord) throws {
        try self.show(message, context, at: trace.receivedAt)
        guard let (verdict, time) = MessageVerdict.last(of: trace) else { return }
        try self.show(verdict, of: MessageKey(id: trace.messageID), nil, nil, at: time)
    }

    private func show(
        _ verdict: MessageVerdict, of message: MessageKey, _ elapsed: Duration?, _ outcome: HandlerOutcome?,
        at time: Timestamp
    ) throws {
        let elapsed = outcome?.elapsed ?? elapsed
        guard self.json else {
            let word = self.style(verdict.word.padded(to: 14), verdict.style)
            let details = Self.details(verdict, elapsed, outcome)
            let agent = message.agent.map { "\($0)  " } ?? ""
            return try self.line("\(time.localMoment) <-- \(word) #\(message.id)  \(agent)\(details)")
        }
        let agent = JSONMembers(present: ["agent": message.agent])
        try self.object(
            "verdict", verdict.members(of: message.id, at: time, after: elapsed) + agent + (outcome?.members ?? []))
    }

    private func show(_ connection: PushEvent.Connection, of installationID: String) throws {
        let version = "MQTT \(connection.protocolVersion)"
        let qos = connection.qualityOfService
        var text =
            "> Ready. \(connection.shownURL), QoS \(qos), \(connection.session)   ^C to quit\n"
            + "  Installation \(installationID.prefix(8).terminalSafe)…, \(version). "
            + "Times are \(Timestamp.now().localZone)."
        if qos == 0 { text += "\n  At QoS 0 what the network drops is gone." }
        if connection.isUnverified { text += "\n  The broker's certificate was not verified." }
        self.state(text)
        try self.object("state", connection.members(of: installationID, at: .now()))
    }

    package static func text(of connection: PushEvent.Connection, installationID: String) -> String {
        let promise = connection.qualityOfService == 1 ? "" : "; at QoS 0 what the network drops is gone"
        let trust = connection.isUnverified ? "; the broker's certificate was not verified" : ""
        return "Ready. inst \(installationID.prefix(8).terminalSafe)… on \(connection.shownURL) "
            + "(MQTT \(connection.protocolVersion), QoS \(connection.qualityOfService), "
            + "\(connection.session)\(promise)\(trust))"
    }

    /// The outcome of a message, for a log with timestamps and without colours; `nil` if the event is no outcome.
    package func verdict(
        _ event: MessageEvent, after elapsed: Duration?, outcome: HandlerOutcome?
    ) -> (word: String, text: String)? {
        guard let verdict = MessageVerdict(event, tellsCause: outcome == nil) else { return nil }
        let details = Self.details(verdict, elapsed, outcome)
        return (verdict.word, "<-- \(verdict.word)  #\(event.messageID)  \(details)")
    }

    private static func details(_ verdict: MessageVerdict, _ elapsed: Duration?, _ outcome: HandlerOutcome?) -> String {
        [outcome?.text, (outcome?.elapsed ?? elapsed).map(\.text), verdict.detail?.terminalSafe].compactMap { $0 }
            .joined(separator: "  ")
    }

    package func show(trouble: String, _ reason: String) throws { try self.show(StateNote(trouble, reason)) }

    private func show(_ note: StateNote) throws {
        if let reason = note.reason {
            let retry = note.retryIn.map { "; retry in \($0.text)" } ?? ""
            let word = self.statusStyle(note.state.padded(to: 14), .yellow)
            self.trouble("\(Timestamp.now().localClock)  !  \(word) \(reason.terminalSafe)\(retry)")
        } else {
            self.state("> \(note.state.prefix(1).uppercased())\(note.state.dropFirst()).")
        }
        try self.object("state", note.members(at: .now()))
    }

    package func show(_ event: PushEvent, of installationID: String) throws {
        switch event {
        case .connected(let connection): try self.show(connection, of: installationID)
        case .registered(let registration): self.detail("installation \(registration.installationID.terminalSafe)")
        case .connecting(let host, let port, let usesTLS):
            self.detail("connecting to \(host.terminalSafe):\(port)" + (usesTLS ? " with TLS" : ""))
        case .subscribed(let target): self.detail("subscribed \(target.text)")
        default: if let note = StateNote(event) { try self.show(note) }
        }
    }
}

extension PushEvent.Connection {
    fileprivate var shownURL: String { self.url.terminalSafe }
    fileprivate var session: String { self.sessionPresent ? "session resumed" : "new session" }
    fileprivate var isUnverified: Bool { self.usesTLS && !self.isVerified }
}

extension MessageEvent {
    package var isOutcome: Bool {
        switch self.kind {
        case .done(_, _, let isLate): !isLate
        case .unreached, .setAside, .dismissed, .dead, .failed, .handedBack: true
        case .received, .stored, .acknowledged, .duplicate, .isolated, .started, .presented, .opened, .late, .stuck,
            .retried:
            false
        }
    }

    package var isSaid: Bool {
        switch self.kind {
        case .duplicate, .late, .done: true
        default: self.isOutcome
        }
    }

    package var resultWord: String? { MessageVerdict(self)?.word }
}

extension MessageVerdict {
    fileprivate var style: TextStyle {
        switch self.word {
        case "newData": .green
        case "failed", "dead": .red
        case "late": .yellow
        case "again": .magenta
        default: .dim
        }
    }

    fileprivate static func last(of trace: MessageRecord) -> (verdict: MessageVerdict, at: Timestamp)? {
        for event in trace.events.reversed() {
            switch event.kind {
            case .done(let result, let attempt, _): return (MessageVerdict(result, attempt: attempt), event.at)
            case .dead: return MessageVerdict(event).map { ($0, event.at) }
            case .presented: return (.presented, event.at)
            default: continue
            }
        }
        guard case .dead(let reason) = trace.state else { return nil }
        return (MessageVerdict(dead: reason), trace.receivedAt)
    }
}
