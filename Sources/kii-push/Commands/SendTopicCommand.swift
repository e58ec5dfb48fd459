import KiiPushCore

struct SendTopicCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topic",
        abstract: "Sends a message to all who are subscribed to a topic (push to user).",
        examples: [
            .init("To a topic of the app", #"kii-push send topic alerts --data '{"msg":"hi"}'"#),
            .init("To one of the profile's own user", #"kii-push send topic user:me/todo --data '{"n":1}'"#),
            .init("With data from a program", "generate | kii-push send topic alerts --data -"),
        ],
        discussion: [
            "The data is one flat JSON object. A topic in the scope of the app is sent to as the app's admin when the "
                + "admin's credentials are at hand, as they are with the emulator."
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.badInput, .missingInput],
        environment: EnvironmentVariable.ofCloudCommands
    )

    @Argument(value: "TOPIC", help: "NAME, user:me/NAME, group:ID/NAME, … ('kii-push help scopes').")
    var topic: TargetName

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
        let (console, name) = (self.output.console, self.topic)
        let message = try self.message.message(self.data.given(), self.alert.apns)
        try await CloudSession.use(self.profile, self.calls, console: console) { session in
            let topic = Topic(name.id, in: try session.scope(name.scope))
            // By default only its creator sends to a topic of the app, and that is the app's administrator.
            let sender = try topic.scope == .app ? session.adminOrOwn() : session.ownOrAdmin()
            let sent = try await session.send(message, to: topic, as: sender)
            let target = SubscriptionTarget.topic(topic)
            try console.result("sent \(sent.id) to topic \(target.text)")
            try console.object("sent", [("id", JSONValue(sent.id)), ("target", .object(target.json))])
        }
    }
}
