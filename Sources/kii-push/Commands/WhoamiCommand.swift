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
        environment: [.profile, .stateHome, .stateDirectory]
    )

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Profile")
    var name: ProfileNameOptions

    func run() async throws {
        let profile = try Profile(named: self.name.profile)
        let (saved, registration) = try profile.registered()
        try self.output.console.show(registration, of: saved, profile: profile, as: "identity")
    }
}

extension Console {
    /// What `register` and `whoami` show.
    func show(_ registration: Registration, of saved: SavedProfile, profile: Profile, as type: String) throws {
        let cloud =
            switch saved.cloud {
            case .emulator: "emulator"
            case .kii(let baseURL, _): baseURL
            }
        let kind =
            switch registration.principal {
            case .user: "user"
            case .thing: "thing"
            }
        // Of 'register' it is what came of it; of 'whoami', what was asked for.
        if self.options.quiet, type == "registration", !self.options.json { return }
        try self.line("profile       \(profile.name)")
        try self.line("cloud         \(cloud.terminalSafe), app \(saved.appID.terminalSafe)")
        try self.line("\(kind.padded(to: 14))\(registration.principal.id.terminalSafe)")
        try self.line("account       \(saved.account.text.terminalSafe)")
        try self.line("installation  \(registration.installationID.terminalSafe)")
        if let payload = registration.payload { try self.line("payloads      \(payload.rawValue)") }
        try self.line("state         \(profile.directory.terminalSafe)")
        try self.object(
            type,
            [
                ("profile", JSONValue(profile.name)), ("cloud", JSONValue(cloud)), ("appID", JSONValue(saved.appID)),
                ("principal", registration.principal.json), ("account", saved.account.json),
                ("installationID", JSONValue(registration.installationID)),
                ("payload", JSONValue((registration.payload ?? .mqtt).rawValue)),
                ("state", JSONValue(profile.directory)),
            ]
        )
    }
}
