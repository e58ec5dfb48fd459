import KiiPushCore

struct SubscriptionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "Lists what the profile is subscribed to, as far as that can be found out.",
        examples: [
            .init("Topics and buckets", "kii-push subscriptions"),
            .init("With the topics of a group", "kii-push subscriptions group:a1b2"),
            .init("For a program", "kii-push subscriptions --json | jq -r 'select(.kind==\"bucket\") | .name'"),
        ],
        discussion: [
            "The cloud has no call that lists subscriptions; it can only be asked about one. It is asked about what was "
                + "subscribed through this profile, about what config.json declares, and about each topic that it lists "
                + "in the scope of the app and of the profile's own user or thing. A bucket that another program has "
                + "subscribed to, and a topic of a group that is not named here, are not found."
        ],
        exitCodes: ExitStatus.ofCloudCommands,
        environment: EnvironmentVariable.ofCloudCommands
    )

    @Argument(
        value: "SCOPE", help: "Look through the topics of these scopes too: group:ID, … ('kii-push help scopes').")
    var scopes: [ScopeName] = []

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    @OptionGroup(title: "Cloud")
    var calls: CallOptions

    func run() async throws {
        let (console, scopes) = (self.output.console, self.scopes)
        try await CloudSession.use(self.profile, self.calls, console: console) { session in
            let principal = try session.registration().principal
            let declared = try session.declared()?.targets(of: principal) ?? []
            let named = try scopes.map { try $0.resolved(for: principal) }
            let candidates = try await session.candidates(declared: declared, scopes: session.ownScopes() + named)
            for (target, source) in try await session.subscribed(principal, among: candidates) {
                try console.line(target.text)
                try console.object(
                    "subscription",
                    target.json + [("subscribed", true), ("known_by", JSONValue(source.rawValue))])
            }
        }
    }
}
