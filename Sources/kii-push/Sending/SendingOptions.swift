import KiiPushCommandLine
import KiiPushCore

struct SendingOptions: ParsableArguments {
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

    func validate() throws { try self.exclude("dry-run", "wait") }

    /// Prints the request with `--dry-run`. Returns whether it did; the caller then sends nothing.
    ///
    /// - Throws: ``KiiInputError`` if the library would refuse the call.
    func isShown<Answer>(_ call: KiiCall<Answer>, as role: String, in session: CloudSession) throws -> Bool {
        guard self.dryRun else { return false }
        guard case .json(let body, let mediaType) = call.body else {
            throw CommandFailure(.internalError, "the request has no body of JSON")
        }
        let (method, url, console) = (call.method.rawValue, try call.url(in: session.cloud.app), session.console)
        try console.line(
            """
            \(method) \(url)
            Content-Type: \(mediaType)
            Authorization: Bearer (the token of \(role))

            \(body.terminalText)
            """)
        try console.object(
            "request", ["method": method, "url": url, "as": role, "media_type": mediaType, "body": body])
        return true
    }

    func watch(_ session: CloudSession) throws -> DeliveryWatch? {
        guard let wait = self.wait?.duration else { return nil }
        return try DeliveryWatch(session, limit: wait)
    }
}
