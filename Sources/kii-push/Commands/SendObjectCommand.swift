import KiiPushCommandLine
import KiiPushCore

struct SendObjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "object",
        abstract: "Creates an object in a bucket, which is pushed to its subscribers (push to app).",
        examples: [
            ("In a bucket of the app", #"kii-push send object news --data '{"title":"hello"}'"#),
            ("In one of the profile's own user", "kii-push send object user:me/notes -f note.json"),
            ("And what did the receivers answer?", "kii-push send object user:me/notes --fixture note --wait"),
        ],
        discussion: [
            "Subscribe to a bucket with 'kii-push subscribe --bucket BUCKET'. The bucket is made if missing. The push names "
                + "the object and holds nothing of it.",
            SendingOptions.waiting,
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.badInput, .missingInput, .timedOut],
        environment: EnvironmentVariable.ofCloudCommands + [.stateHome, .stateDirectory]
    )

    @Argument(value: "BUCKET", help: "NAME, user:me/NAME, group:ID/NAME, … ('kii-push help scopes').")
    var bucket: TargetName

    @OptionGroup(title: "Object") var data: DataOptions

    @Option(value: "NAME", help: "Begin with a built-in example ('kii-push send fixtures').")
    var fixture: ObjectFixture?

    @Option(
        value: "POINTER=VALUE",
        help:
            "Set a member, named by a JSON Pointer (RFC 6901): /title=milk. A VALUE that is no JSON is a text. May be "
            + "repeated."
    )
    var set: [DataChange] = []

    @OptionGroup(title: "Sending") var sending: SendingOptions
    @OptionGroup var cloud: CloudCommandOptions

    func validate() throws {
        if self.fixture != nil, self.data.isGiven {
            throw CommandFailure(.usage, "'--fixture' excludes '--data' and '--data-file'")
        }
        guard self.data.isGiven || self.fixture != nil || !self.set.isEmpty else {
            throw CommandFailure(.usage, "give the data with one of '--data', '--data-file', '--fixture' and '--set'")
        }
        let rule = DataChangeRule.object
        for change in self.set { try rule.check(change) }
    }

    func run() async throws {
        let fields = try self.set.applied(to: self.data.given() ?? self.fixture?.fields ?? [:])
        try await self.cloud.withSession { session in
            let bucket = Bucket(self.bucket.id, in: try session.scope(self.bucket.scope))
            let sender = try session.sender(in: bucket.scope)
            let call = try KiiCall.creating(fields, in: bucket)
            if try self.sending.isShown(call, as: sender.role, in: session) { return }
            let watch = try self.sending.watch(session)
            let object = try await sender.session.perform(call)
            let target = SubscriptionTarget.bucket(bucket)
            try session.console.result("created object \(object.reference.id.terminalSafe) in \(target.text)")
            try session.console.object("sent", ["id": object.reference.id, "target": JSONValue.object(target.json)])
            try await watch?.conclude(session.deliveries(about: object.reference))
        }
    }
}
