import KiiPushCore

/// What is done besides sending, or in its place.
struct SendingOptions: ParsableArguments {
    /// What the help of each sending command says of `--wait`.
    static let waiting =
        "--wait ends with the first verdict of every receiver on this machine: newData or noData is 0, failed (though it "
        + "is tried again later) or dead is 1. It works with the emulator alone, which answers when its broker has the "
        + "message, and says to which installations it went and what was written for them. It does not know what a "
        + "receiver acknowledges. So a receiver is a profile of this state directory with one of these installations, and "
        + "its inbox is looked at: for the first message behind those that were there before, with that payload. Of equal "
        + "messages that are sent at the same time either may be the one that is seen. Receivers elsewhere are not waited "
        + "for."

    @Flag(help: "Show the request that would be sent, without secrets, and send nothing.") var dryRun = false

    @Option(bare: "30s", value: "TIME", help: "Wait so long for the receivers' verdicts, as said above; alone: 30s.")
    var wait: TimeSpan?

    func validate() throws {
        if self.dryRun, self.wait != nil { throw ValidationError("'--dry-run' and '--wait' exclude each other") }
    }

    /// Shows the request if that is asked for, and says whether it is: then nothing is to be sent.
    func isShown<Answer>(_ call: KiiCall<Answer>, as role: CloudSession.Role, in session: CloudSession) throws -> Bool {
        guard self.dryRun else { return false }
        try RequestText(call, app: session.cloud.app, role: role).show(session.console)
        return true
    }

    /// Remembers where the inboxes stand before anything is sent; `nil` where nothing is waited for.
    func watch(_ session: CloudSession) throws -> DeliveryWatch? {
        guard let wait = self.wait?.duration else { return nil }
        return try DeliveryWatch(session, limit: wait)
    }
}

/// A request as `--dry-run` shows it.
private struct RequestText {
    private let method: String
    private let url: String
    private let role: String
    private let mediaType: String
    private let body: JSONValue

    /// - Throws: ``KiiInputError`` where the call would be refused before it is sent.
    init<Answer>(_ call: KiiCall<Answer>, app: KiiApp, role: CloudSession.Role) throws {
        self.method = call.method.rawValue
        self.url = try call.url(in: app)
        self.role = role.text
        guard case .json(let body, let mediaType) = call.body else {
            throw CommandFailure(.internalError, "the request has no body of JSON")
        }
        (self.body, self.mediaType) = (body, mediaType)
    }

    func show(_ console: Console) throws {
        try console.line(
            """
            \(self.method) \(self.url)
            Content-Type: \(self.mediaType)
            Authorization: Bearer (the token of \(self.role))

            \(self.body.terminalText)
            """)
        try console.object(
            "request",
            [
                "method": self.method, "url": self.url, "as": self.role, "media_type": self.mediaType,
                "body": self.body,
            ])
    }
}
