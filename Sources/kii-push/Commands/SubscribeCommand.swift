import KiiPushCore

struct SubscribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Subscribes the profile to topics and buckets.",
        examples: [
            .init("A topic of the app", "kii-push subscribe alerts"),
            .init("Topics of the profile's own user and of a group", "kii-push subscribe user:me/todo group:a1b2/room"),
            .init("A bucket: each change of an object in it is pushed", "kii-push subscribe --bucket user:me/notes"),
        ],
        discussion: [
            "A topic that is missing is created: in the scope of the app with the admin's credentials if there are "
                + "any, elsewhere as the profile itself. To be subscribed already is no error."
        ],
        aliases: ["sub"],
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
                let outcome = try await session.subscribe(principal, to: target)
                try console.result("subscribed \(target.text)" + (outcome.isChanged ? "" : " (it was already)"))
                try console.object(
                    "subscription",
                    target.json + [
                        ("subscribed", true), ("changed", JSONValue(outcome.isChanged)),
                        ("created", JSONValue(outcome.isTopicCreated)),
                    ]
                )
            }
        }
    }
}
