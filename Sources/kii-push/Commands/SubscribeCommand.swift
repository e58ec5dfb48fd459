import KiiPushCommandLine
import KiiPushCore

struct SubscribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe", abstract: "Subscribes the profile to topics and buckets.",
        examples: [
            ("A topic of the app", "kii-push subscribe alerts"),
            ("Topics of the profile's own user and of a group", "kii-push subscribe user:me/todo group:a1b2/room"),
            ("A bucket: each change of an object in it is pushed", "kii-push subscribe --bucket user:me/notes"),
            ("Everything that config.json declares for the profile", "kii-push subscribe"),
        ],
        discussion: [
            "Without a name it subscribes to what the profile declares in \"subscriptions\" of config.json, as 'kii-push run' "
                + "does ('kii-push help files').",
            "A topic that is missing is created: in the scope of the app with the admin's credentials if there are "
                + "any, elsewhere as the profile itself. To be subscribed already is no error.",
        ],
        aliases: ["sub"],
        exitCodes: ExitStatus.ofCloudCommands, environment: EnvironmentVariable.ofCloudCommands
    )

    @OptionGroup var targets: TargetOptions

    func run() async throws {
        try await self.targets.change(isSubscribed: true, unchanged: "it was already") { session, principal, target in
            try await session.subscribe(principal, to: target)
        }
    }
}

struct UnsubscribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unsubscribe", abstract: "Ends subscriptions of the profile to topics and buckets.",
        examples: [
            ("A topic of the app", "kii-push unsubscribe alerts"),
            ("A bucket", "kii-push unsubscribe --bucket user:me/notes"),
        ],
        discussion: ["Not to be subscribed is no error; a topic that does not exist is."],
        exitCodes: ExitStatus.ofCloudCommands, environment: EnvironmentVariable.ofCloudCommands
    )

    @OptionGroup var targets: TargetOptions

    func validate() throws {
        if self.targets.isEmpty { throw CommandFailure(.usage, "name a topic, or a bucket with --bucket") }
    }

    func run() async throws {
        try await self.targets.change(isSubscribed: false, unchanged: "it was not subscribed") {
            session, principal, target in
            (try await session.unsubscribe(principal, from: target), false)
        }
    }
}

struct TargetOptions: ParsableArguments {
    @Argument(value: "TOPIC", help: "Topics: NAME, user:me/NAME, group:ID/NAME, … ('kii-push help scopes').")
    var topics: [TargetName] = []

    @Option(short: "b", long: "bucket", value: "BUCKET", help: "A bucket; may be given again.")
    var buckets: [TargetName] = []

    @OptionGroup var cloud: CloudCommandOptions

    var isEmpty: Bool { self.topics.isEmpty && self.buckets.isEmpty }

    /// Changes the subscriptions to the given targets, or else to the profile's declared targets. Prints the results.
    func change(
        isSubscribed: Bool, unchanged: String,
        _ change: (CloudSession, Principal, SubscriptionTarget) async throws -> CloudSession.SubscriptionOutcome
    ) async throws {
        try await self.cloud.withSession { session in
            let principal = try session.registration().principal
            for target in try self.targets(of: principal, in: session) {
                let outcome = try await change(session, principal, target)
                let done = "\(isSubscribed ? "" : "un")subscribed \(target.text)"
                try session.console.result(outcome.isChanged ? done : "\(done) (\(unchanged))")
                try session.console.object(
                    "subscription",
                    target.json + [
                        ("subscribed", JSONValue(isSubscribed)), ("changed", JSONValue(outcome.isChanged)),
                        ("created", JSONValue(outcome.isTopicCreated)),
                    ])
            }
        }
    }

    private func targets(of principal: Principal, in session: CloudSession) throws -> [SubscriptionTarget] {
        guard self.isEmpty else {
            return try SubscriptionTarget.targets(topics: self.topics, buckets: self.buckets, of: principal)
        }
        guard let declared = try session.declared() else {
            throw CommandFailure(
                .configuration, "profile '\(session.profile.name)' declares no subscriptions",
                hint: "name a topic, or a bucket with --bucket; or add \"subscriptions\": kii-push help files")
        }
        return try declared.targets(of: principal)
    }
}
