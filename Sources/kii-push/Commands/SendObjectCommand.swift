import KiiPushCore

struct SendObjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "object",
        abstract: "Creates an object in a bucket, which is pushed to its subscribers (push to app).",
        examples: [
            .init("In a bucket of the app", #"kii-push send object news --data '{"title":"hello"}'"#),
            .init("In one of the profile's own user", "kii-push send object user:me/notes -f note.json"),
        ],
        discussion: ["Subscribe to a bucket with 'kii-push subscribe --bucket BUCKET'. The bucket is made if missing."],
        exitCodes: ExitStatus.ofCloudCommands + [.badInput, .missingInput],
        environment: EnvironmentVariable.ofCloudCommands
    )

    @Argument(value: "BUCKET", help: "NAME, user:me/NAME, group:ID/NAME, … ('kii-push help scopes').")
    var bucket: TargetName

    @OptionGroup(title: "Object")
    var data: DataOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    @OptionGroup(title: "Cloud")
    var calls: CallOptions

    func validate() throws {
        guard self.data.isGiven else {
            throw ValidationError("give the data with either '--data' or '--data-file'")
        }
    }

    func run() async throws {
        let (console, name) = (self.output.console, self.bucket)
        let fields = try self.data.value()
        try await CloudSession.use(self.profile, self.calls, console: console) { session in
            let bucket = Bucket(name.id, in: try session.scope(name.scope))
            let object = try await session.ownOrAdmin().withToken { token in
                try await session.client.createObject(fields, in: bucket, token: token.token)
            }
            let target = SubscriptionTarget.bucket(bucket)
            try console.result("created object \(object.reference.id) in \(target.text)")
            try console.object("sent", [("id", JSONValue(object.reference.id)), ("target", .object(target.json))])
        }
    }
}
