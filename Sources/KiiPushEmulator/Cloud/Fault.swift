import KiiPushCore

/// A failure that the user configured for the next requests of one kind.
struct Fault: Sendable {
    enum Answer: Sendable {
        case refusal(KiiFailure, retryAfter: Int?)
        case disconnect
    }

    var id: String
    var requests: RequestPattern
    var times: Int
    /// `nil` if the fault only delays the request.
    var answer: Answer?
    /// Whether the cloud carries out the request before the fault, which then affects only the answer.
    var isAfterwards: Bool
    var delay: Duration
}

extension Fault.Answer {
    var response: HTTPResponse? {
        switch self {
        case .disconnect: nil
        case .refusal(let refusal, let seconds): (seconds.map { refusal.retryAfter(Int64($0)) } ?? refusal).response
        }
    }
}

extension Fault {
    static let longestDelay = Duration.seconds(600)
    /// JSON members that require the member `status`.
    private static let answerMembers = ["errorCode", "message", "members", "retryAfter"]

    init(_ body: ControlBody, id: String) throws(KiiFailure) {
        try body.object(
            ["method", "path", "times", "status"] + Fault.answerMembers + ["afterwards", "disconnect", "delay"])
        let path = try body["path"]?.nonEmptyText() ?? "/**"
        guard RequestPattern.isPath(path) else {
            throw body.failure("must start with a slash and may have ** at its end, as in /api/**", at: "path")
        }
        let method = try body["method"]?.nonEmptyText().uppercased()
        if let method, !RequestPattern.methods.contains(method) {
            throw body.failure("must be one of \(RequestPattern.methods.joined(separator: ", "))", at: "method")
        }
        self.id = id
        self.requests = RequestPattern(method, path)
        self.times = try body["times"]?.count() ?? 1
        self.isAfterwards = try body["afterwards"]?.flag() ?? false
        self.delay = try body["delay"]?.duration(from: .zero, to: Fault.longestDelay) ?? .zero
        self.answer = try Fault.answer(body, isLost: self.isAfterwards)
        guard self.answer != nil || self.delay > .zero else {
            throw body.failure("or disconnect, afterwards or delay is needed", at: "status")
        }
    }

    /// - Parameter isLost: whether the cloud first carries out the request and then, by default, closes the
    ///   connection.
    private static func answer(_ body: ControlBody, isLost: Bool) throws(KiiFailure) -> Answer? {
        let disconnects = try body["disconnect"]?.flag()
        guard let status = try body["status"]?.integer(in: 400...599) else {
            if let member = Fault.answerMembers.first(where: { body[$0] != nil }) {
                throw body.failure("is needed beside \(member)", at: "status")
            }
            return disconnects ?? isLost ? .disconnect : nil
        }
        guard disconnects != true else { throw body.failure("leaves no answer to have a status", at: "disconnect") }
        let retryAfter = try body["retryAfter"]?.integer(in: 0...86_400)
        let members = try body.present("members")?.object().value.pairs ?? []
        let refusal = Fault.refusal(status, try body["errorCode"]?.nonEmptyText(), try body["message"]?.nonEmptyText())
        let written = refusal.facts.map { $0.0 } + (retryAfter == nil ? [] : ["retryAfter"])
        for (name, _) in members where written.contains(name) {
            throw body.failure("holds \(name), which the answer has once already", at: "members")
        }
        return .refusal(refusal.about(members), retryAfter: retryAfter)
    }

    init(_ answer: FaultStep.Answer) {
        self.init(id: "", requests: RequestPattern(), times: 1, isAfterwards: false, delay: .zero)
        switch answer {
        case .refusal(let status, let code): self.answer = .refusal(Fault.refusal(status, code), retryAfter: nil)
        case .disconnect: self.answer = .disconnect
        case .delay(let delay): self.delay = delay
        }
    }

    private static func refusal(_ status: Int, _ code: String?, _ message: String? = nil) -> KiiFailure {
        KiiFailure(
            status, code ?? (status == 429 ? "TOO_MANY_REQUESTS" : "UNDEFINED_ERROR"),
            message ?? "The emulator was told to answer so.")
    }

    var json: JSONValue {
        var (refusal, retryAfter, disconnects) = (KiiFailure?.none, Int?.none, false)
        switch self.answer {
        case .refusal(let said, let seconds): (refusal, retryAfter) = (said, seconds)
        case .disconnect: disconnects = true
        case nil: break
        }
        return .object(present: [
            "id": self.id, "method": self.requests.method, "path": self.requests.path, "times": self.times,
            "status": refusal?.status, "errorCode": refusal?.errorCode, "message": refusal?.message,
            "members": refusal.map { JSONValue.object($0.context) }, "retryAfter": retryAfter,
            "afterwards": self.isAfterwards, "disconnect": disconnects, "delay": JSONValue.seconds(self.delay),
        ])
    }
}
