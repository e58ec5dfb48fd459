import KiiPushCore

/// A failure that the emulator was told to show: what the next requests of one kind are answered with.
struct Fault: Sendable {
    /// What a list names it by.
    var id: String
    /// `nil` for every method.
    var method: String?
    var path: PathPattern
    /// How many requests it still meets.
    var times: Int
    /// What is answered; `nil` where the request is only delayed.
    var refusal: KiiFailure?
    /// Whether the request is carried out before it is refused: its answer is lost.
    var isAfterwards: Bool
    /// How long the answer is held back, after the request was carried out.
    var delay: Duration

    /// Paths that a fault is for.
    struct PathPattern: Sendable {
        /// As it was written: `*` stands for one segment, `**` at the end for any number of them.
        let text: String

        func matches(_ path: [String]) -> Bool {
            var rest = path[...]
            for segment in self.text.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
                if segment == "**" { return true }
                guard let first = rest.popFirst(), segment == "*" || segment == first else { return false }
            }
            return rest.isEmpty
        }
    }

    /// Whether a request is met.
    func meets(method: String, path: [String]) -> Bool {
        (self.method == nil || self.method == method) && self.path.matches(path)
    }
}

extension Fault {
    /// The longest time for which a connection is kept waiting.
    private static let longestDelay = Duration.seconds(600)

    /// Reads a fault as `POST /__kii/faults` writes it.
    init(_ body: ControlBody, id: String) throws(KiiFailure) {
        try body.allow(
            "method", "path", "times", "status", "errorCode", "message", "members", "retryAfter", "afterwards", "delay")
        let path = try body.text("path") ?? "/**"
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.first == "", !segments.dropLast().contains("**") else {
            throw body.wrong("path", "has to start with a slash and may have ** at its end, as in /api/**")
        }
        self.id = id
        self.method = try body.text("method").map { $0.uppercased() }
        self.path = PathPattern(text: path)
        self.times = try body.count("times") ?? 1
        self.isAfterwards = try body.bool("afterwards") ?? false
        self.delay = try body.duration("delay", from: .zero, to: Fault.longestDelay) ?? .zero
        self.refusal = try Fault.refusal(body)
        guard self.refusal != nil || self.delay > .zero else {
            throw body.wrong("status", "or delay is needed")
        }
    }

    private static func refusal(_ body: ControlBody) throws(KiiFailure) -> KiiFailure? {
        let code = try body.text("errorCode")
        guard let status = try body.count("status", in: 400...599) else {
            guard code == nil else { throw body.wrong("status", "is needed beside errorCode") }
            return nil
        }
        let retryAfter = try body.count("retryAfter", in: 0...86_400)
        let members = try body.freeMembers("members")
        let written = retryAfter == nil ? ["errorCode", "message"] : ["errorCode", "message", "retryAfter"]
        for (name, _) in members where written.contains(name) {
            throw body.wrong("members", "holds \(name), which the answer has once already")
        }
        var refusal = KiiFailure(
            status: status,
            errorCode: code ?? "UNDEFINED_ERROR",
            message: try body.text("message") ?? "The emulator was told to answer so.",
            context: members
        )
        if let seconds = retryAfter {
            // In both places where Kii's clients look for it.
            refusal.context.append(("retryAfter", JSONValue(seconds)))
            refusal.fields.append(HTTPField("Retry-After", "\(seconds)"))
        }
        return refusal
    }

    /// One element of `GET /__kii/faults`.
    var json: JSONValue {
        .compact([
            ("id", JSONValue(self.id)), ("method", .optional(self.method)), ("path", JSONValue(self.path.text)),
            ("times", JSONValue(self.times)), ("status", self.refusal.map { JSONValue($0.status) } ?? .null),
            ("errorCode", .optional(self.refusal?.errorCode)), ("afterwards", JSONValue(self.isAfterwards)),
            ("delay", .seconds(self.delay)),
        ])
    }
}
