import KiiPushCore

/// What `listen` shows: `-->` for a message, `<--` for the answer to it, `!` for trouble, `>` for a change of
/// state.
extension Console {
    /// A message that was handed to the handler at `time`.
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
    private func show(_ connection: PushEvent.Connection, of installationID: String) throws {
        let version = "MQTT \(connection.protocolVersion)"
        let qos = connection.qualityOfService
        var text =
            "> Ready. \(connection.url), QoS \(qos), \(connection.session)   ^C to quit\n"
            + "  Installation \(installationID.prefix(8).terminalSafe)…, \(version). "
            + "Times are \(Timestamp.now().localZone)."
        if qos == 0 { text += "\n  At QoS 0 what the network drops is gone." }
        if connection.isUnverified { text += "\n  The broker's certificate was not verified." }
        self.state(text)
        try self.object(
            "state",
            [
                "state": "connected", "at": Timestamp.now(), "installation": installationID, "url": connection.url,
                "protocol": version, "qos": qos, "session_present": connection.sessionPresent,
                "verified": connection.isVerified,
            ])
    }

    /// A connection that carries messages, in one line.
    static func text(of connection: PushEvent.Connection, installationID: String) -> String {
        let promise = connection.qualityOfService == 1 ? "" : "; at QoS 0 what the network drops is gone"
        let trust = connection.isUnverified ? "; the broker's certificate was not verified" : ""
        return "Ready. inst \(installationID.prefix(8).terminalSafe)… on \(connection.url) "
            + "(MQTT \(connection.protocolVersion), QoS \(connection.qualityOfService), "
            + "\(connection.session)\(promise)\(trust))"
    }

    /// What became of a message, for a log that has the time and no colours; `nil` for an event that is no answer.
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
        try self.object(
            "state",
            ["state": trouble, "at": Timestamp.now(), "reason": reason, "retry_in_ms": retryIn?.milliseconds])
    }

    private func show(recovery: String) throws {
        self.state("> \(recovery.prefix(1).uppercased())\(recovery.dropFirst()).")
        try self.object("state", ["state": recovery, "at": Timestamp.now()])
    }

    /// The events of an agent that are about no message.
    func show(_ event: PushEvent, of installationID: String) throws {
        switch event {
        case .connected(let connection): try self.show(connection, of: installationID)
        case .disconnected(let reason, let retryIn): try self.show(trouble: "offline", reason, retryIn: retryIn)
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
        case .message, .stopping: break
        }
    }
}

extension PushEvent.Connection {
    fileprivate var url: String { "\(self.usesTLS ? "mqtts" : "mqtt")://\(self.host.terminalSafe):\(self.port)" }
    fileprivate var qualityOfService: Int { self.guarantee == .atLeastOnce ? 1 : 0 }
    fileprivate var session: String { self.sessionPresent ? "session resumed" : "new session" }
    fileprivate var isUnverified: Bool { self.usesTLS && !self.isVerified }
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
    var members: [(String, JSONValue)]

    init(_ word: String, _ style: TextStyle, _ detail: String? = nil, _ members: JSONLiteral = [:]) {
        (self.word, self.style, self.detail) = (word, style, detail)
        self.members = JSONMembers(members)
    }

    /// `nil` for an event that is none. Without the cause where that is said by who failed.
    init?(_ event: MessageEvent, tellsCause: Bool) {
        switch event.kind {
        case .done(_, let attempt, isLate: true):
            self.init(
                "late", .yellow, "an answer after the deadline, in time to count",
                ["attempt": attempt, "counted": true])
        case .done(let result, let attempt, isLate: false): self.init(result, attempt)
        case .unreached: self.init("noData", .dim, "it reached nobody")
        case .setAside: self.init("setAside", .dim, "the filter hides it; it waits for the next run")
        case .dismissed: self.init("noData", .dim, "the user did not open it")
        case .failed(let attempt, let failure, let after):
            let cause = failure == .failed || !tellsCause ? "" : "\(failure); "
            self.init(
                "failed", .red, "\(cause)attempt \(attempt), retry in \(after.text)",
                ["attempt": attempt, "failure": failure.description, "retry_in_ms": after.milliseconds])
        case .dead(let reason, _):
            let fate = event.isKept ? "kept in the inbox" : "not kept: the inbox is in memory"
            self.init("dead", .red, "\(reason); \(fate)", ["reason": reason.description, "kept": event.isKept])
        case .handedBack(let failure):
            self.init("failed", .red, "\(failure); handed back", ["failure": failure.description])
        case .late(let attempt):
            self.init("late", .yellow, "an answer too late to count", ["attempt": attempt, "counted": false])
        case .duplicate: self.init("again", .magenta, "the broker delivered it again; it is in hand already")
        case .received, .stored, .acknowledged, .isolated, .started, .presented, .opened, .stuck, .retried: return nil
        }
    }

    private init(_ result: FetchResult, _ attempt: Int) {
        (self.word, self.style) = (result.word, result == .newData ? .green : .dim)
        self.members = [("attempt", JSONValue(attempt))]
    }

    /// What became of a message of the inbox, and when; `nil` where that is not recorded.
    static func last(of trace: MessageRecord) -> (verdict: Verdict, at: Timestamp)? {
        for event in trace.events.reversed() {
            switch event.kind {
            case .done(let result, let attempt, _): return (Verdict(result, attempt), event.at)
            case .dead: return Verdict(event, tellsCause: true).map { ($0, event.at) }
            case .presented: return (Verdict("presented", .dim), event.at)
            default: continue
            }
        }
        guard case .dead(let reason) = trace.state else { return nil }
        return (Verdict("dead", .red, "\(reason); kept in the inbox"), trace.receivedAt)
    }
}

extension FetchResult {
    /// The name that programs rely on.
    var word: String {
        switch self {
        case .newData: "newData"
        case .noData: "noData"
        case .failed: "failed"
        }
    }
}
