/// The result of a message or of an attempt. Programs rely on its words.
package struct MessageVerdict: Sendable {
    package let word: String
    package let detail: String?
    private let details: JSONMembers

    private init(
        _ word: String, _ detail: String? = nil, _ members: KeyValuePairs<String, (any JSONConvertible)?> = [:]
    ) {
        (self.word, self.detail, self.details) = (word, detail, JSONMembers(present: members))
    }

    package init(_ result: FetchResult, attempt: Int) { self.init(result.word, nil, ["attempt": attempt]) }

    package init(dead reason: DeadLetterReason) { self.init("dead", "\(reason); kept in the inbox") }

    package static let presented = MessageVerdict("presented")

    /// `nil` if the event is no result.
    package init?(_ event: MessageEvent, tellsCause: Bool = true) {
        switch event.kind {
        case .done(_, let attempt, isLate: true):
            self.init(
                "late", "an answer after the deadline, in time to count", ["attempt": attempt, "counted": true])
        case .done(let result, let attempt, isLate: false): self.init(result, attempt: attempt)
        case .unreached: self.init("noData", "it reached nobody")
        case .setAside: self.init("setAside", "the filter hides it; it waits for the next run")
        case .dismissed: self.init("noData", "the user did not open it")
        case .failed(let attempt, let failure, let after):
            let cause = failure == .failed || !tellsCause ? "" : "\(failure); "
            self.init(
                "failed", "\(cause)attempt \(attempt), retry in \(after.text)",
                ["attempt": attempt, "failure": failure.description, "retry_in_ms": after.milliseconds])
        case .dead(let reason, _):
            let fate = event.isKept ? "kept in the inbox" : "not kept: the inbox is in memory"
            self.init("dead", "\(reason); \(fate)", ["reason": reason.description, "kept": event.isKept])
        case .handedBack(let failure):
            self.init("failed", "\(failure); handed back", ["failure": failure.description])
        case .late(let attempt):
            self.init("late", "an answer too late to count", ["attempt": attempt, "counted": false])
        case .duplicate: self.init("again", "the broker delivered it again; it is in hand already")
        case .received, .stored, .acknowledged, .isolated, .started, .presented, .opened, .stuck, .retried: return nil
        }
    }

    package func members(of messageID: Int64, at time: Timestamp, after elapsed: Duration? = nil) -> JSONMembers {
        JSONMembers(present: [
            "id": messageID, "result": self.word, "at": time.description, "elapsed_ms": elapsed?.milliseconds,
        ]) + self.details
    }
}

extension FetchResult {
    package var word: String {
        switch self {
        case .newData: "newData"
        case .noData: "noData"
        case .failed: "failed"
        }
    }
}
