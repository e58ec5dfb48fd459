import KiiPushCommandLine
import KiiPushCore

struct SendUserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Sends a message straight to a user's installations (direct push).",
        examples: [
            ("To the profile's own user", #"kii-push send user me --data '{"msg":"hi"}'"#),
            ("To a user by ID", "kii-push send user 0a1b2c3d4e5f --data-file message.json"),
            (
                "An alert, for a profile of 'kii-push register --payload apns'",
                "kii-push send user me --alert 'Dinner is ready' --badge 1"
            ),
            ("What would be sent?", "kii-push send user me --fixture wake --dry-run"),
        ],
        discussion: [
            "No subscription is needed. The cloud wants the app's admin for this; the admin's credentials are used "
                + "when they are at hand, as they are with the emulator. Things get no direct push.",
            ContentOptions.wholeMessage, SendingOptions.waiting,
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.badInput, .missingInput, .timedOut],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory]
    )

    @Argument(value: "USER", help: "A user's ID, or 'me' for the user that the profile receives as.") var user: String
    @OptionGroup(title: "Message") var content: ContentOptions
    @OptionGroup(title: "Sending") var sending: SendingOptions
    @OptionGroup var cloud: CloudCommandOptions

    func validate() throws {
        try self.content.check()
    }

    func run() async throws {
        let message = try self.content.assembled()
        try await self.cloud.withSession { session in
            let userID = try self.user == "me" ? session.ownUserID() : self.user
            let sender = try session.adminOrOwn()
            let call = try message.call(to: .user(userID))
            if try self.sending.isShown(call, as: sender.role, in: session) { return }
            let watch = try self.sending.watch(session)
            let sent = try await sender.session.perform(call)
            let target: JSONValue = ["kind": "user", "id": JSONValue(userID)]
            try await session.showSent(sent, to: "user \(userID.terminalSafe)", target)
            if message.hasAlert, let reason = session.reasonForUnseenAlerts(of: userID) {
                session.console.warning(reason)
            }
            try await watch?.conclude(session.deliveries(of: sent))
        }
    }
}

extension CloudSession {
    /// The reason why an alert to this user is not seen, with advice; `nil` if the user is not the profile's own, or if
    /// the profile receives alerts.
    fileprivate func reasonForUnseenAlerts(of userID: String) -> String? {
        guard let registration = self.profile.registration, registration.principal == .user(userID),
            registration.payload != .apns
        else { return nil }
        let reason = "nobody will see the alert: profile '\(self.profile.name)' receives over MQTT, without alerts"
        // Only the emulator supports `--payload`.
        guard self.cloud.source == .emulator else { return reason }
        return "\(reason); to receive them, run: kii-push register --payload apns\(self.profile.option)"
    }
}
