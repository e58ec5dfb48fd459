import KiiPushCore

struct WhoamiCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Shows the profile, its principal and its cloud. Asks no network.",
        examples: [
            .init("The default profile", "kii-push whoami"),
            .init("The ID of a profile's user or thing", "kii-push whoami -p work --json | jq -r .principal.id"),
        ],
        exitCodes: [.configuration],
        environment: EnvironmentVariable.ofCloudCommands
    )

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cloud")
    var profile: ProfileOptions

    func run() async throws {
        let profile = try Profile(self.profile)
        guard let saved = profile.saved else {
            throw CommandFailure(
                .configuration,
                "profile '\(profile.name)' is not registered",
                hint: profile.registerHint
            )
        }
        try saved.show(on: self.output.console, profile: profile, as: "identity")
    }
}

extension SavedProfile {
    /// What `register` and `whoami` show.
    func show(on console: Console, profile: Profile, as type: String) throws {
        let cloud =
            switch self.cloud {
            case .emulator: "emulator"
            case .kii(let baseURL, _): baseURL
            }
        let kind =
            switch self.principal {
            case .user: "user"
            case .thing: "thing"
            }
        try console.line("profile       \(profile.name)")
        try console.line("cloud         \(cloud.terminalSafe), app \(self.appID.terminalSafe)")
        try console.line("\(kind.padded(to: 14))\(self.principal.id.terminalSafe)")
        try console.line("account       \(self.account.text.terminalSafe)")
        try console.line("installation  \(self.installationID.terminalSafe)")
        try console.line("state         \(profile.directory.terminalSafe)")
        try console.object(
            type,
            [
                ("profile", JSONValue(profile.name)), ("cloud", JSONValue(cloud)), ("appID", JSONValue(self.appID)),
                ("principal", self.principal.json), ("account", self.account.json),
                ("installationID", JSONValue(self.installationID)), ("state", JSONValue(profile.directory)),
            ]
        )
    }
}

extension String {
    /// The text with spaces behind it, at least `width` characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - self.count))
    }
}
