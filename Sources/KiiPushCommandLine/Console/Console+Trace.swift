package import KiiPushCore

extension Console {
    package func show(_ trace: MessageRecord, withPayload: Bool) throws {
        let (content, state) = (TracedContent(trace), TraceWords(trace.state))
        try self.line("message       #\(trace.messageID)")
        try self.line("state         \(self.style(state.word, .bold))\(state.detailText)")
        try self.line("kind          \(content.text)")
        try self.line("size          \(trace.sizeText)")
        try self.line("MQTT          \(trace.transportText)")
        try self.line("MQTT topic    \(trace.topic.terminalSafe)")
        if let installation = trace.installationID { try self.line("installation  \(installation.terminalSafe)") }
        try self.line("times         \(trace.receivedAt.localZone)")
        try self.line("")
        for event in trace.events {
            let words = TraceWords(event.kind)
            let offset = trace.offset(of: event)
            try self.event(at: event.at.localText, offset == 0 ? "0 ms" : "\(offset > 0 ? "+" : "")\(offset) ms", words)
        }
        for gap in trace.missing { try self.event(at: "not recorded", "", TraceWords(gap)) }
        if withPayload { try self.line("\n\(content.payloadText)") }
        try self.object("trace", trace.members(content) + (withPayload ? [content.payloadMember] : []))
    }

    package func show(inList trace: MessageRecord) throws {
        let (content, state) = (TracedContent(trace), TraceWords(trace.state))
        let number = "#\(trace.messageID) ".padded(to: 8)
        let word = self.style(state.word.padded(to: 10), .bold)
        try self.line("\(number)\(word)\(trace.receivedAt.localText)  \(content.text)\(state.detailText)")
        try self.object(
            "inbox_message", trace.heading(content) + [("attempts", max(trace.begunAttempts, trace.attempts).json)])
    }

    private func event(at time: String, _ offset: String, _ words: TraceWords) throws {
        let padding = String(repeating: " ", count: max(0, 14 - offset.count))
        let word = words.detailText.isEmpty ? words.word : words.word.padded(to: 12)
        try self.line("\(time.padded(to: 24))\(padding)\(offset)  \(word)\(words.detailText)")
    }
}

private struct TraceWords {
    var word: String
    var detail: String?
    var members: [(String, JSONValue)]

    var detailText: String { self.detail.map { "  " + $0.terminalSafe } ?? "" }

    init(_ state: MessageRecord.State) {
        switch state {
        case .waiting: self.init("waiting")
        case .running(let since):
            self.init("running", "in hand since \(since.localText)", ["since": since])
        case .waitingForRetry(let due):
            self.init("retry", "the next attempt is due at \(due.localText)", ["due_at": due])
        case .presented: self.init("presented", "the user has not reacted")
        case .done: self.init("done")
        case .dead(let reason): self.init("dead", reason.description, ["reason": reason.description])
        }
    }

    init(_ kind: MessageEvent.Kind) {
        switch kind {
        case .received, .stored, .acknowledged, .presented, .unreached, .setAside, .dismissed, .late, .stuck:
            self.init(kind.word)
        case .duplicate: self.init(kind.word, "the broker delivered it again; acknowledged again")
        case .isolated(let attempt):
            self.init(
                kind.word, "attempt \(attempt) is to run alone: a process ended with the message in hand",
                ["attempt": attempt])
        case .started(let attempt): self.init(kind.word, "attempt \(attempt)", ["attempt": attempt])
        case .failed(let attempt, let failure, let pause):
            self.init(
                kind.word, "attempt \(attempt): \(failure); again after \(pause.text)",
                ["attempt": attempt, "failure": failure.description, "retry_in_ms": pause.milliseconds])
        case .done(let result, let attempt, let isLate):
            self.init(
                kind.word, "\(result.word), attempt \(attempt)\(isLate ? ", after its time" : "")",
                ["result": result.word, "attempt": attempt, "late": isLate])
        case .handedBack(let failure): self.init(kind.word, failure.description)
        case .opened(let action):
            self.init(kind.word, action.identifier, ["action": action.identifier])
        case .dead(let reason, let attempt):
            self.init(kind.word, reason.description, ["reason": reason.description, "attempt": attempt])
        case .retried: self.init(kind.word, "by hand; attempts are counted from 1 again")
        }
    }

    init(_ gap: MessageRecord.Gap) {
        switch gap {
        case .storing: self.init("stored", "a damaged inbox cannot say when")
        case .acknowledgement:
            self.init("acknowledged", "the connection ended before, or the process before it was written")
        case .answer: self.init("answered", "a damaged inbox cannot say when")
        case .laterEvents: self.init("later", "not all that happened: the record is full or damaged")
        }
    }

    private init(_ word: String, _ detail: String? = nil, _ members: JSONLiteral = [:]) {
        (self.word, self.detail) = (word, detail)
        self.members = JSONMembers(members)
    }
}

extension MessageRecord {
    fileprivate func offset(of event: MessageEvent) -> Int64 {
        // `&-` wraps around instead of trapping: a damaged record may hold any number.
        event.at.millisecondsSinceEpoch &- self.receivedAt.millisecondsSinceEpoch
    }

    fileprivate var sizeText: String {
        guard let originalLength else { return self.payload.count.text(of: "byte") }
        return "\(originalLength) bytes, of which the first \(self.payload.count) were kept"
    }

    fileprivate var transportText: String {
        var words = ["QoS \(self.qualityOfService)"]
        if let packetID { words.append("packet \(packetID)") }
        words.append(self.isMarkedDuplicate ? "DUP set" : "DUP not set")
        if self.isRetained { words.append("retained") }
        words.append("connection \(self.connection)")
        return words.joined(separator: ", ")
    }

    package var begunAttempts: Int {
        // After an event `opened` or `retried`, attempts are numbered from 1 again. The event `isolated` is stored
        // before its attempt starts: if the attempt ends the process, the event `started` is missing.
        var (before, latest) = (0, 0)
        for event in self.events {
            switch event.kind {
            case .started(let attempt), .isolated(let attempt): latest = max(latest, attempt)
            case .opened, .retried: (before, latest) = (before + latest, 0)
            default: continue
            }
        }
        return before + latest
    }

    fileprivate func heading(_ content: TracedContent) -> [(String, JSONValue)] {
        let state = TraceWords(self.state)
        let head: JSONLiteral = ["id": self.messageID, "state": state.word]
        let tail: JSONLiteral = [
            "installation": self.installationID, "received_at": self.receivedAt,
            "bytes": self.originalLength ?? self.payload.count,
        ]
        return .init(head) + state.members + content.members + .init(tail)
    }

    fileprivate func members(_ content: TracedContent) -> [(String, JSONValue)] {
        let events = self.events.map { event in
            let words = TraceWords(event.kind)
            let head: JSONLiteral = ["event": words.word, "at": event.at, "offset_ms": self.offset(of: event)]
            return JSONValue.object(.init(head) + words.members)
        }
        let members: JSONLiteral = [
            "mqtt_topic": self.topic, "qos": self.qualityOfService, "dup": self.isMarkedDuplicate,
            "retain": self.isRetained, "packet_id": self.packetID, "connection": self.connection,
            "events": JSONValue(events), "missing": JSONValue(self.missing.map { JSONValue(TraceWords($0).word) }),
        ]
        return self.heading(content) + .init(members)
    }
}
