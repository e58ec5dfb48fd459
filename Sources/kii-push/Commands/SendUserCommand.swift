import KiiPushCore

struct SendUserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Sends a message straight to a user's installations (direct push).",
        examples: [
            .init("To the profile's own user", #"kii-push send user me --data '{"msg":"hi"}'"#),
            .init("To a user by ID", "kii-push send user 0a1b2c3d4e5f --data-file message.json"),
            .init(
                "An alert, for a profile of 'kii-push register --payload apns'",
                "kii-push send user me --alert 'Dinner is ready' --badge 1"
            ),
        ],
        discussion: [
            "No subscription is needed. The cloud wants the app's admin for this; the admin's credentials are used "
                + "when they are at hand, as they are with the emulator. Things get no direct push."
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.badInput, .missingInput],
        environment: EnvironmentVariable.ofCloudCommands
    )

    @Argument(value: "USER", help: "A user's ID, or 'me' for the user that the profile receives as.")
    var user: String

    @OptionGroup(title: "Message")
    var data: DataOptions

    @OptionGroup(title: "Message")
    var message: MessageOptions

    @OptionGroup(title: "Payloads of Apple's devices")
    var alert: AlertOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    @OptionGroup(title: "Cloud")
    var calls: CallOptions

    func validate() throws {
        guard self.data.isGiven || self.alert.apns != nil else {
            throw ValidationError("give the data with '--data' or '--data-file', or an alert with '--alert'")
        }
    }

    func run() async throws {
        let (console, user) = (self.output.console, self.user)
        let message = try self.message.message(self.data.given(), self.alert.apns)
        try await CloudSession.use(self.profile, self.calls, console: console) { session in
            let userID = try user == "me" ? session.ownUserID() : user
            let sent = try await session.adminOrOwn().withToken { token in
                try await session.client.send(message, toUser: userID, token: token.token)
            }
            try console.result("sent \(sent.id) to user \(userID)")
            let target: JSONValue = ["kind": "user", "id": JSONValue(userID)]
            try console.object("sent", [("id", JSONValue(sent.id)), ("target", target)])
        }
    }
}
