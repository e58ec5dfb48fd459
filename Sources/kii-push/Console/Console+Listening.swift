import KiiPushCore

/// What `listen` shows: `-->` for a message, `<--` for the answer to it, `!` for trouble with the connection.
extension Console {
    /// A message that is handed to the handler.
    ///
    /// - Parameter time: when it was handed over. Default: now.
    func show(_ message: ReceivedMessage, _ context: DeliveryContext, at time: Timestamp = .now()) throws {
        guard !self.options.json else { return try self.object("message") { Self.describe(message, context, in: &$0) } }
        let text = MessageText(message, style: self.style)
        let kind = self.style(message.kind.text.padded(to: 14), .bold)
        let attempt = context.attempt > 1 ? "  " + self.style("attempt \(context.attempt)", .magenta) : ""
        let size = "\(message.payloadBytes.count) B"
        let head =
            "\(time.localMoment) --> \(kind) \(text.source.padded(to: 24)) \(size)  #\(context.messageID)\(attempt)"
        let summary = text.summary
        let details = (summary.isEmpty ? [] : [summary]) + text.findings
        try self.line(([head] + details).joined(separator: "\n                 "))
    }

    /// What `--json` tells of a message that is handed to a handler.
    static func describe(_ message: ReceivedMessage, _ context: DeliveryContext, in line: inout JSONObjectWriter) {
        line.add("id", context.messageID)
        line.add("attempt", Int64(context.attempt))
        line.add("installation", context.installationID)
        line.add("received_at", context.receivedAt.description)
        message.describe(in: &line)
    }

    /// What became of a message. `elapsed` is the time since its handler was called, and `outcome` what is known of an
    /// attempt outside this process.
    func show(
        _ event: MessageEvent, after elapsed: Duration?, outcome: HandlerOutcome? = nil, at time: Timestamp = .now()
    ) throws {
        guard let verdict = Verdict(event, tellsCause: outcome == nil) else { return }
        try self.show(verdict, of: event.messageID, elapsed, outcome, at: time)
    }

    /// A message of the inbox that came to something, as it was shown when it did.
    func show(_ message: ReceivedMessage, _ context: DeliveryContext, endedAs trace: MessageRecord) throws {
        try self.show(message, context, at: trace.receivedAt)
        guard let (verdict, time) = Verdict.last(of: trace) else { return }
        try self.show(verdict, of: trace.messageID, nil, nil, at: time)
    }

    private func show(
        _ verdict: Verdict, of messageID: Int64, _ elapsed: Duration?, _ outcome: HandlerOutcome?, at time: Timestamp
    ) throws {
        let elapsed = outcome?.elapsed ?? elapsed
        guard self.options.json else {
            let word = self.style(verdict.word.padded(to: 14), verdict.style)
            let details = Self.details(verdict, elapsed, outcome)
            return try self.line("\(time.localMoment) <-- \(word) #\(messageID)  \(details)")
        }
        try self.object("verdict") { line in
            line.add("id", messageID)
            line.add("result", verdict.word)
            line.add("at", time.description)
            if let elapsed { line.add("elapsed_ms", elapsed.milliseconds) }
            line.add(verdict.members)
            line.add(outcome?.members ?? [])
        }
    }

    /// A connection that carries messages; only said once the broker has granted the subscription.
    func show(_ connection: PushEvent.Connection, of installationID: String) throws {
        let url = Self.url(of: connection)
        let isAtLeastOnce = connection.guarantee == .atLeastOnce
        let qualityOfService = isAtLeastOnce ? 1 : 0
        let session = connection.sessionPresent ? "session resumed" : "new session"
        var lines = ["> Ready. \(url), QoS \(qualityOfService), \(session)   ^C to quit"]
        lines.append(
            "  Installation \(installationID.prefix(8).terminalSafe)…, MQTT \(connection.protocolVersion). Times are "
                + "\(Timestamp.now().localZone).")
        if !isAtLeastOnce { lines.append("  At QoS 0 what the network drops is gone.") }
        if connection.usesTLS, !connection.isVerified { lines.append("  The broker's certificate was not verified.") }
        self.state(lines.joined(separator: "\n"))
        try self.object(
            "state",
            [
                ("state", "connected"), ("at", JSONValue(Timestamp.now().description)),
                ("installation", JSONValue(installationID)), ("url", JSONValue(url)),
                ("protocol", JSONValue("MQTT \(connection.protocolVersion)")), ("qos", JSONValue(qualityOfService)),
                ("session_present", JSONValue(connection.sessionPresent)),
                ("verified", JSONValue(connection.isVerified)),
            ])
    }

    /// A connection that carries messages, in one line.
    static func text(of connection: PushEvent.Connection, installationID: String) -> String {
        let qualityOfService = connection.guarantee == .atLeastOnce ? 1 : 0
        let session = connection.sessionPresent ? "session resumed" : "new session"
        let promise = connection.guarantee == .atLeastOnce ? "" : "; at QoS 0 what the network drops is gone"
        let trust = connection.usesTLS && !connection.isVerified ? "; the broker's certificate was not verified" : ""
        let details = "MQTT \(connection.protocolVersion), QoS \(qualityOfService), \(session)\(promise)\(trust)"
        return "Ready. inst \(installationID.prefix(8).terminalSafe)… on \(Self.url(of: connection)) (\(details))"
    }

    private static func url(of connection: PushEvent.Connection) -> String {
        "\(connection.usesTLS ? "mqtts" : "mqtt")://\(connection.host.terminalSafe):\(connection.port)"
    }

    /// What became of a message, for a log that knows the time and takes no colours; `nil` for an event that says nothing
    /// about that.
    func verdict(
        _ event: MessageEvent, after elapsed: Duration?, outcome: HandlerOutcome?
    ) -> (word: String, text: String)? {
        guard let verdict = Verdict(event, tellsCause: outcome == nil) else { return nil }
        let details = Self.details(verdict, elapsed, outcome)
        return (verdict.word, "<-- \(verdict.word)  #\(event.messageID)  \(details)")
    }

    private static func details(_ verdict: Verdict, _ elapsed: Duration?, _ outcome: HandlerOutcome?) -> String {
        [outcome?.text, (outcome?.elapsed ?? elapsed).map(\.text), verdict.detail?.terminalSafe].compactMap { $0 }
            .joined(separator: "  ")
    }

    /// Something that keeps messages from arriving or from being stored.
    func show(trouble: String, _ reason: String, retryIn: Duration? = nil) throws {
        let retry = retryIn.map { "; retry in \($0.text)" } ?? ""
        let word = self.statusStyle(trouble.padded(to: 14), .yellow)
        self.trouble("\(Timestamp.now().localClock)  !  \(word) \(reason.terminalSafe)\(retry)")
        var members: [(String, JSONValue)] = [
            ("state", JSONValue(trouble)), ("at", JSONValue(Timestamp.now().description)),
            ("reason", JSONValue(reason)),
        ]
        if let retryIn { members.append(("retry_in_ms", JSONValue(retryIn.milliseconds))) }
        try self.object("state", members)
    }

    /// That what a trouble said is over.
    private func show(recovery: String) throws {
        self.state("> \(recovery.prefix(1).uppercased())\(recovery.dropFirst()).")
        try self.object("state", [("state", JSONValue(recovery)), ("at", JSONValue(Timestamp.now().description))])
    }

    /// The other events of an agent.
    func show(_ event: PushEvent) throws {
        switch event {
        case .registered(let registration): self.detail("installation \(registration.installationID.terminalSafe)")
        case .connecting(let host, let port, let usesTLS):
            self.detail("connecting to \(host.terminalSafe):\(port)" + (usesTLS ? " with TLS" : ""))
        case .sessionLost: try self.show(trouble: "session lost", "the broker kept no session: messages may be missing")
        case .takenOver(let takeover): try self.show(trouble: "taken over", takeover.description)
        case .storageFailed(let reason): try self.show(trouble: "not storing", reason)
        case .storageRecovered: try self.show(recovery: "storing again")
        case .historyCut(let messages):
            try self.show(
                trouble: "history cut", "the disk was full: the records of \(messages) handled messages made room")
        case .receptionPaused(let reason): try self.show(trouble: "not receiving", reason)
        case .receptionResumed: try self.show(recovery: "receiving again")
        case .deadLettersRemoved(let count):
            try self.show(
                trouble: "letters dropped", "\(count) dead letters that nobody can handle made room for newer ones")
        case .stateNotSaved(let reason): try self.show(trouble: "not saving", reason)
        case .stateSaved: try self.show(recovery: "saving again")
        case .inboxMovedAside(let path, let reason, let takenOver, let lost):
            let loss = lost.map { "\($0) lost" } ?? "an unknown number lost"
            try self.show(
                trouble: "inbox damaged",
                "\(reason); what was left is kept as \(path)*; \(takenOver) messages taken over from it, \(loss)")
        case .adopted(let former, let messages):
            try self.show(
                trouble: "adopted",
                "\(messages) \(messages == 1 ? "message" : "messages") of the former installation \(former.terminalSafe)"
            )
        case .readingFailed(let reason): try self.show(trouble: "not reading", reason)
        case .readingRecovered: try self.show(recovery: "reading again")
        case .deliveryStalled(let reason): try self.show(trouble: "not handling", reason)
        case .deliveryRecovered: try self.show(recovery: "handling again")
        case .inboxInMemory(let reason):
            try self.show(
                trouble: "in memory only",
                "\(reason); until the next start less is promised: what the handler gives up on is not kept, and what is "
                    + "unanswered when the process ends only the broker has")
        case .controlSocketFailed(let reason): try self.show(trouble: "not watchable", reason)
        case .subscribed(let target): self.detail("subscribed \(target.text)")
        case .subscriptionFailed(let target, let reason, let retryIn):
            try self.show(trouble: "not subscribed", "\(target.text): \(reason)", retryIn: retryIn)
        // Shown by those who know what belongs to them. Without a default, so that no event of later is forgotten.
        case .connected, .disconnected, .message, .stopping: break
        }
    }
}

extension MessageEvent {
    /// Whether an attempt, or the message, is over by it.
    var isOutcome: Bool {
        switch self.kind {
        case .done(_, _, let isLate): !isLate
        case .unreached, .setAside, .dismissed, .dead, .failed, .handedBack: true
        case .received, .stored, .acknowledged, .duplicate, .isolated, .started, .presented, .opened, .late, .stuck,
            .retried:
            false
        }
    }

    /// Whether there is something to say about it.
    var isSaid: Bool {
        switch self.kind {
        case .duplicate, .late, .done: true
        default: self.isOutcome
        }
    }

    /// What became of the message in one word; `nil` for an event that is no answer.
    var resultWord: String? { Verdict(self, tellsCause: true)?.word }
}

/// A delivery event that is an answer, in words.
private struct Verdict {
    var word: String
    var style: TextStyle
    var detail: String?
    var members: [(String, JSONValue)] = []

    /// `nil` for an event that is none. Without the cause where that is said by who failed.
    init?(_ event: MessageEvent, tellsCause: Bool) {
        switch event.kind {
        case .done(_, let attempt, isLate: true): self.init(late: attempt, counted: true)
        case .done(let result, let attempt, isLate: false): self.init(result, attempt)
        case .unreached: self.init(word: "noData", style: .dim, detail: "it reached nobody")
        case .setAside:
            self.init(word: "setAside", style: .dim, detail: "the filter hides it; it waits for the next run")
        case .dismissed: self.init(word: "noData", style: .dim, detail: "the user did not open it")
        case .failed(let attempt, let failure, let after):
            let cause = failure == .failed || !tellsCause ? "" : "\(failure); "
            self.init(word: "failed", style: .red, detail: "\(cause)attempt \(attempt), retry in \(after.text)")
            self.members = [
                ("attempt", JSONValue(attempt)), ("failure", JSONValue(failure.description)),
                ("retry_in_ms", JSONValue(after.milliseconds)),
            ]
        case .dead(let reason, _):
            let fate = event.isKept ? "kept in the inbox" : "not kept: the inbox is in memory"
            self.init(word: "dead", style: .red, detail: "\(reason); \(fate)")
            self.members = [("reason", JSONValue(reason.description)), ("kept", JSONValue(event.isKept))]
        case .handedBack(let failure):
            self.init(word: "failed", style: .red, detail: "\(failure); handed back")
            self.members = [("failure", JSONValue(failure.description))]
        case .late(let attempt): self.init(late: attempt, counted: false)
        case .duplicate:
            self.init(word: "again", style: .magenta, detail: "the broker delivered it again; it is in hand already")
        case .received, .stored, .acknowledged, .isolated, .started, .presented, .opened, .stuck, .retried: return nil
        }
    }

    /// What became of a message of the inbox, and when; `nil` where that is not recorded.
    static func last(of trace: MessageRecord) -> (verdict: Verdict, at: Timestamp)? {
        for event in trace.events.reversed() {
            switch event.kind {
            case .done(let result, let attempt, _): return (Verdict(result, attempt), event.at)
            case .dead: return Verdict(event, tellsCause: true).map { ($0, event.at) }
            case .presented: return (Verdict(word: "presented", style: .dim), event.at)
            default: continue
            }
        }
        guard case .dead(let reason) = trace.state else { return nil }
        return (Verdict(word: "dead", style: .red, detail: "\(reason); kept in the inbox"), trace.receivedAt)
    }

    private init(_ result: FetchResult, _ attempt: Int) {
        self.init(word: result.word, style: result == .newData ? .green : .dim)
        self.members = [("attempt", JSONValue(attempt))]
    }

    private init(late attempt: Int, counted: Bool) {
        let detail = counted ? "an answer after the deadline, in time to count" : "an answer too late to count"
        self.init(word: "late", style: .yellow, detail: detail)
        self.members = [("attempt", JSONValue(attempt)), ("counted", JSONValue(counted))]
    }

    private init(word: String, style: TextStyle, detail: String? = nil) {
        self.word = word
        self.style = style
        self.detail = detail
    }
}

extension FetchResult {
    fileprivate var word: String {
        switch self {
        case .newData: "newData"
        case .noData: "noData"
        case .failed: "failed"
        }
    }
}
