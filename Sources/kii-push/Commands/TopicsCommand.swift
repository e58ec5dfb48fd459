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

    @OptionGroup(title: "Cloud")
    var calls: CallOptions

    func run() async throws {
        let (console, scope, subscribed) = (self.output.console, self.scope, self.subscribed)
        try await CloudSession.use(self.profile, self.calls, console: console) { session in
            let registration = try session.registration()
            let own = try session.own()
            let scope = try scope.resolved(for: registration.principal)
            for try await topic in KiiList(ListTopics(in: scope), session: own) {
                if subscribed {
                    guard session.isUsable(topic) else { continue }
                    let check = CheckSubscription(of: registration.principal, to: .topic(topic))
                    guard try await own.execute(check) else { continue }
                }
                let target = SubscriptionTarget.topic(topic)
                try console.line(target.text)
                try console.object("topic", target.json)
            }
        }
    }
}
