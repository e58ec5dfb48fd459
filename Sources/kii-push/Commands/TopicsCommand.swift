import KiiPushCore

struct TopicsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics",
        abstract: "Lists the topics of a scope.",
        examples: [
            .init("The topics of the app", "kii-push topics"),
            .init("Those of the profile's own user", "kii-push topics user:me"),
            .init("Those that the profile is subscribed to", "kii-push topics --subscribed"),
        ],
        exitCodes: ExitStatus.ofCloudCommands,
        environment: EnvironmentVariable.ofCloudCommands
    )

    @Argument(value: "SCOPE", help: "app, user:me, group:ID, thing:me, … ('kii-push help scopes').")
    var scope = ScopeName.app

    @Flag(name: .customShort("s"), help: "Only those that the profile is subscribed to.")
    var subscribed = false

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    func run() async throws {
        let (console, scope, subscribed) = (self.output.console, self.scope, self.subscribed)
        try await CloudSession.use(self.profile, console: console) { session in
            let registration = try session.registration()
            let token = try await session.ownToken()
            let scope = try scope.resolved(for: registration.principal)
            for topic in try await session.client.topics(in: scope, token: token) {
                if subscribed {
                    let principal = registration.principal
                    guard try await session.client.isSubscribed(principal, to: .topic(topic), token: token) else {
                        continue
                    }
                }
                let target = SubscriptionTarget.topic(topic)
                try console.line(target.text)
                try console.object("topic", target.json)
            }
        }
    }
}
