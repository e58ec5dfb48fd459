import KiiPushCore

struct UnsubscribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unsubscribe",
        abstract: "Ends subscriptions of the profile to topics and buckets.",
        examples: [
            .init("A topic of the app", "kii-push unsubscribe alerts"),
            .init("A bucket", "kii-push unsubscribe --bucket user:me/notes"),
        ],
        discussion: ["Not to be subscribed is no error; a topic that does not exist is."],
        exitCodes: ExitStatus.ofCloudCommands,
        environment: EnvironmentVariable.ofCloudCommands
    )

    @Argument(value: "TOPIC", help: "Topics: NAME, user:me/NAME, group:ID/NAME, … ('kii-push help scopes').")
    var topics: [TargetName] = []

    @Option(name: .shortAndCustomLong("b", "bucket"), value: "BUCKET", help: "A bucket; may be given again.")
    var buckets: [TargetName] = []

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Cloud") var profile: ProfileOptions
    @OptionGroup(title: "Cloud") var calls: CallOptions

    func validate() throws {
        guard self.topics.isEmpty, self.buckets.isEmpty else { return }
        throw ValidationError("name a topic, or a bucket with --bucket")
    }

    func run() async throws {
        let (console, topics, buckets) = (self.output.console, self.topics, self.buckets)
        try await CloudSession.use(self.profile, self.calls, console: console) { session in
            let principal = try session.registration().principal
            for target in try SubscriptionTarget.targets(topics: topics, buckets: buckets, of: principal) {
                let isChanged = try await session.unsubscribe(principal, from: target)
                try console.result("unsubscribed \(target.text)" + (isChanged ? "" : " (it was not subscribed)"))
                try console.object(
                    "subscription",
                    target.json + [("subscribed", false), ("changed", JSONValue(isChanged)), ("created", false)]
                )
            }
        }
    }
}
