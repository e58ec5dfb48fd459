import KiiPushCore

struct SubscriptionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "Lists what the profile is subscribed to, or the topics that there are.",
        examples: [
            ("Topics and buckets", "kii-push subscriptions"),
            ("With the topics of a group", "kii-push subscriptions group:a1b2"),
            ("Every topic of the app, subscribed or not", "kii-push subscriptions --available"),
            ("Every topic of the profile's own user", "kii-push subscriptions --available user:me"),
            ("For a program", "kii-push subscriptions --json | jq -r 'select(.kind==\"bucket\") | .name'"),
        ],
        discussion: [
            "The cloud has no call that lists subscriptions; it can only be asked about one. It is asked about what was "
                + "subscribed through this profile, about what config.json declares, and about each topic that it lists "
                + "in the scope of the app and of the profile's own user or thing. A bucket that another program has "
                + "subscribed to, and a topic of a group that is not named here, are not found."
        ],
        exitCodes: ExitStatus.ofCloudCommands, environment: EnvironmentVariable.ofCloudCommands
    )

    @Argument(
        value: "SCOPE", help: "Look through the topics of these scopes too: group:ID, … ('kii-push help scopes').")
    var scopes: [ScopeName] = []

    @Flag(help: "Instead, every topic of these scopes, subscribed or not. Without a scope: those of the app.")
    var available = false

    @OptionGroup var cloud: CloudCommandOptions

    func run() async throws {
        try await self.cloud.withSession { session in
            let console = session.console
            let principal = try session.registration().principal
            let named = try self.scopes.map { try $0.resolved(for: principal) }
            if self.available {
                for scope in named.isEmpty ? [.app] : named {
                    for try await topic in try session.own().topics(in: scope) {
                        let target = SubscriptionTarget.topic(topic)
                        try console.line(target.text)
                        try console.object("topic", target.json)
                    }
                }
                return
            }
            let declared = try session.declared()?.targets(of: principal) ?? []
            let candidates = try await session.candidates(declared: declared, scopes: session.ownScopes() + named)
            for (target, source) in try await session.subscribed(principal, among: candidates) {
                try console.line(target.text)
                try console.object(
                    "subscription", target.json + [("subscribed", true), ("known_by", JSONValue(source.rawValue))])
            }
        }
    }
}
