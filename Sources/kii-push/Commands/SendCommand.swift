/// Groups the ways to cause a push.
struct SendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Sends a push: to a topic, to a user, or by creating an object.",
        examples: [
            .init("To all who are subscribed to a topic", #"kii-push send topic alerts --data '{"msg":"hi"}'"#),
            .init("Straight to a user, here the profile's own", #"kii-push send user me --data '{"msg":"hi"}'"#),
            .init(
                "By a change in a bucket that somebody is subscribed to",
                #"kii-push send object user:me/notes --data '{"title":"milk"}'"#
            ),
            .init(
                "Try it out: what would be sent, and what becomes of it", "kii-push send user me --fixture alert --wait"
            ),
        ],
        subcommands: [SendTopicCommand.self, SendUserCommand.self, SendObjectCommand.self, SendFixturesCommand.self],
        likelySubcommand: "topic",
        aliases: ["pub"]
    )
}
