import KiiPushCore

/// A failure that the user configured for the next requests of one kind.
struct Fault: Sendable {

    var id: String
    var requests: RequestPattern
    var times: Int
    /// The answer in place of the cloud's.
    var refusal: KiiFailure?
    var retryAfter: Int?
    /// Whether the connection closes without an answer; never together with ``refusal``.
    var disconnects = false
    /// Whether the cloud carries out the request before the fault, which then affects only the answer.
    var isAfterwards: Bool
    var delay: Duration
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
        try self.readAnswer(body)
        guard self.replacesAnswer || self.delay > .zero else {
            throw body.failure("or disconnect, afterwards or delay is needed", at: "status")
        }
    }

    private mutating func readAnswer(_ body: ControlBody) throws(KiiFailure) {
        let disconnects = try body["disconnect"]?.flag()
        guard let status = try body["status"]?.integer(in: 400...599) else {
            if let member = Fault.answerMembers.first(where: { body[$0] != nil }) {
                throw body.failure("is needed beside \(member)", at: "status")
            }
            // After a request that the cloud has carried out, the connection closes by default.
            self.disconnects = disconnects ?? self.isAfterwards
            return
        }
        guard disconnects != true else { throw body.failure("leaves no answer to have a status", at: "disconnect") }
        self.retryAfter = try body["retryAfter"]?.integer(in: 0...86_400)
        let members = try body.present("members")?.object().value.pairs ?? []
        let refusal = Fault.refusal(status, try body["errorCode"]?.nonEmptyText(), try body["message"]?.nonEmptyText())
        let written = refusal.facts.map { $0.0 } + (self.retryAfter == nil ? [] : ["retryAfter"])
        for (name, _) in members where written.contains(name) {
            throw body.failure("holds \(name), which the answer has once already", at: "members")
        }
        self.refusal = refusal.about(members)
    }

    init(_ answer: FaultStep.Answer) {
        self.init(id: "", requests: RequestPattern(), times: 1, isAfterwards: false, delay: .zero)
        switch answer {
        case .refusal(let status, let code): self.refusal = Fault.refusal(status, code)
        case .disconnect: self.disconnects = true
        case .delay(let delay): self.delay = delay
        }
    }

    private static func refusal(_ status: Int, _ code: String?, _ message: String? = nil) -> KiiFailure {
        KiiFailure(
            status, code ?? (status == 429 ? "TOO_MANY_REQUESTS" : "UNDEFINED_ERROR"),
            message ?? "The emulator was told to answer so.")
    }

    var replacesAnswer: Bool { self.refusal != nil || self.disconnects }

    /// `nil` closes the connection.
    var response: HTTPResponse? {
        let seconds = self.retryAfter.map { Int64($0) }
        return self.refusal.map { refusal in (seconds.map { refusal.retryAfter($0) } ?? refusal).response }
    }

    var json: JSONValue {
        .object(present: [
            "id": self.id, "method": self.requests.method, "path": self.requests.path, "times": self.times,
            "status": self.refusal?.status, "errorCode": self.refusal?.errorCode, "message": self.refusal?.message,
            "members": self.refusal.map { JSONValue.object($0.context) }, "retryAfter": self.retryAfter,
            "afterwards": self.isAfterwards, "disconnect": self.disconnects, "delay": JSONValue.seconds(self.delay),
        ])
    }
}
