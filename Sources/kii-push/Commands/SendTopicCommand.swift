import KiiPushCommandLine
import KiiPushCore

struct SendTopicCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topic", abstract: "Sends a message to all who are subscribed to a topic (push to user).",
        examples: [
            ("To a topic of the app", #"kii-push send topic alerts --data '{"msg":"hi"}'"#),
            ("To one of the profile's own user", #"kii-push send topic user:me/todo --data '{"n":1}'"#),
            ("With data from a program", "generate | kii-push send topic alerts --data -"),
            ("An example with one value changed", "kii-push send topic alerts --fixture reading --set /count=18"),
            ("Also over FCM, with the body of the call", "kii-push send topic alerts --message body.json"),
            ("And what did the receivers answer?", "kii-push send topic alerts --fixture hello --wait"),
        ],
        discussion: [
            "The data is one flat JSON object. A topic in the scope of the app is sent to as the app's admin when the "
                + "admin's credentials are at hand, as they are with the emulator.",
            ContentOptions.wholeMessage, SendingOptions.waiting,
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.badInput, .missingInput, .timedOut],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory]
    )

    @Argument(value: "TOPIC", help: "NAME, user:me/NAME, group:ID/NAME, … ('kii-push help scopes').")
    var topic: TargetName

    @OptionGroup(title: "Message") var content: ContentOptions
    @OptionGroup(title: "Sending") var sending: SendingOptions
    @OptionGroup var cloud: CloudCommandOptions

    func validate() throws {
        try self.content.check(written: [
            "topic", "objectScopeAppID", "objectScopeType", "objectScopeUserID", "objectScopeGroupID",
            "objectScopeThingID",
        ])
    }

    func run() async throws {
        let message = try self.content.assembled()
        try await self.cloud.withSession { session in
            let topic = Topic(self.topic.id, in: try session.scope(self.topic.scope))
            // By default only the administrator, who creates the app's topics, may send to them.
            let sender = try session.sender(in: topic.scope)
            let call = try message.call(to: .topic(topic))
            if try self.sending.isShown(call, as: sender.role, in: session) { return }
            let watch = try self.sending.watch(session)
            let sent = try await session.send(call, to: topic, as: sender.session)
            let target = SubscriptionTarget.topic(topic)
            try await session.showSent(sent, to: "topic \(target.text)", .object(target.json))
            try await watch?.conclude(session.deliveries(of: sent))
        }
    }
}
