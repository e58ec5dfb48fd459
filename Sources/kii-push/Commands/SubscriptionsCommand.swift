import KiiPushCommandLine
import KiiPushCore

struct SubscriptionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "Lists topics and buckets, and whether the profile is subscribed to them.",
        examples: [
            ("Topics and buckets", "kii-push subscriptions"),
            ("With the topics of a group", "kii-push subscriptions group:a1b2"),
            ("For a program", "kii-push subscriptions --json | jq -r 'select(.subscribed) | .name'"),
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

    @OptionGroup var cloud: CloudCommandOptions

    func run() async throws {
        try await self.cloud.withSession { session in
            let console = session.console
            let principal = try session.registration().principal
            let named = try self.scopes.map { try $0.resolved(for: principal) }
            let declared = try session.declared()?.targets(of: principal) ?? []
            let candidates = try await session.candidates(declared: declared, scopes: session.ownScopes() + named)
            for (target, source) in candidates {
                guard let isSubscribed = try await session.isSubscribed(principal, to: target, known: source) else {
                    continue
                }
                try console.line(target.text + (isSubscribed ? "" : "  (not subscribed)"))
                try console.object(
                    "subscription",
                    target.json + [("subscribed", JSONValue(isSubscribed)), ("known_by", JSONValue(source.rawValue))])
            }
        }
    }
}
