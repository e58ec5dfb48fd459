/// A message's events on their way over the control socket: its number and what happened, never what it says.
extension MessageEvent {
    var controlValue: JSONValue {
        var members: [(String, JSONValue)] = [("message", JSONValue(self.messageID)), ("kept", JSONValue(self.isKept))]
        func happened(_ name: String, attempt: Int? = nil, _ more: (String, JSONValue)...) {
            members.append(("name", JSONValue(name)))
            if let attempt { members.append(("attempt", JSONValue(attempt))) }
            members += more
        }
        switch self.kind {
        case .received: happened("received")
        case .joined: happened("joined")
        case .started(let attempt): happened("started", attempt: attempt)
        case .done(let result, let attempt): happened("done", attempt: attempt, ("result", JSONValue("\(result)")))
        case .unreached(let attempt): happened("unreached", attempt: attempt)
        case .setAside: happened("setAside")
        case .presented: happened("presented")
        case .opened(let action):
            happened("opened", ("action", JSONValue(action.stored)))
        case .dismissed: happened("dismissed")
        case .retry(let attempt, let failure, let after):
            happened(
                "retry", attempt: attempt, ("failure", JSONValue(failure.description)), ("after", after.controlValue))
        case .dead(let reason): happened("dead", ("reason", JSONValue(reason.description)))
        case .handedBack(let failure): happened("handedBack", ("failure", JSONValue(failure.description)))
        case .late(let attempt, let counted): happened("late", attempt: attempt, ("counted", JSONValue(counted)))
        case .stuck(let attempt): happened("stuck", attempt: attempt)
        }
        return .object(members)
    }

    /// `nil` for what is no message's event, or one of a later version.
    init?(controlValue value: JSONValue) {
        guard let id = value["message"]?.int64, let kind = Kind(controlValue: value) else { return nil }
        self.init(messageID: id, kind: kind, isKept: value["kept"]?.bool ?? true)
    }
}

extension MessageEvent.Kind {
    fileprivate init?(controlValue value: JSONValue) {
        let attempt = Int(clamping: value["attempt"]?.int64 ?? 1)
        let failure = value["failure"]?.string.flatMap { DeliveryFailure($0) }
        switch value["name"]?.string {
        case "received": self = .received
        case "joined": self = .joined
        case "started": self = .started(attempt: attempt)
        case "done":
            let results: [String: FetchResult] = ["newData": .newData, "noData": .noData, "failed": .failed]
            guard let result = value["result"]?.string.flatMap({ results[$0] }) else { return nil }
            self = .done(result, attempt: attempt)
        case "unreached": self = .unreached(attempt: attempt)
        case "setAside": self = .setAside
        case "presented": self = .presented
        case "opened": self = .opened(UserAction(stored: value["action"]?.string ?? ""))
        case "dismissed": self = .dismissed
        case "retry":
            guard let failure else { return nil }
            self = .retry(attempt: attempt, failure: failure, after: .milliseconds(value["after"]?.int64 ?? 0))
        case "dead":
            guard let reason = value["reason"]?.string.flatMap({ DeadLetterReason($0) }) else { return nil }
            self = .dead(reason)
        case "handedBack":
            guard let failure else { return nil }
            self = .handedBack(failure)
        case "late": self = .late(attempt: attempt, counted: value["counted"]?.bool ?? false)
        case "stuck": self = .stuck(attempt: attempt)
        default: return nil
        }
    }
}

extension DeliveryFailure {
    /// From its description.
    fileprivate init?(_ description: String) {
        switch description {
        case "failed": self = .failed
        case "unanswered": self = .unanswered
        case "timedOut": self = .timedOut
        default:
            guard let error = description.suffix(after: "threw: ") else { return nil }
            self = .threw(error)
        }
    }
}

extension DeadLetterReason {
    /// From its description.
    fileprivate init?(_ description: String) {
        if description == "crashed" {
            self = .crashed
        } else if description == "command" {
            self = .command
        } else if description == "unexpectedTopic" {
            self = .unexpectedTopic
        } else if let reason = description.suffix(after: "rejected: ") {
            self = .rejected(reason)
        } else if let reason = description.suffix(after: "undecodable: ") {
            self = .undecodable(reason)
        } else if let length = description.suffix(after: "oversized: ")?.split(separator: " ").first {
            self = .oversized(originalLength: Int(length) ?? 0)
        } else if let failure = DeliveryFailure(description) {
            self = .attemptsFailed(failure)
        } else {
            return nil
        }
    }
}

extension String {
    fileprivate func suffix(after prefix: String) -> String? {
        self.hasPrefix(prefix) ? String(self.dropFirst(prefix.count)) : nil
    }
}
