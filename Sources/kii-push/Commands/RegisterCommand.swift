import KiiPushCommandLine
import KiiPushCore

struct RegisterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register", abstract: "Makes the profile known to the cloud, so that pushes can be received.",
        examples: [
            ("As a user of its own, without name and password", "kii-push register"),
            ("As a user that exists", "kii-push register --user alice --password-file alice.secret"),
            ("As a thing, in another profile", "kii-push register -p meter --thing meter-17 --password-stdin"),
            (
                "With Kii's cloud; the app's key is in a file",
                "kii-push register --site jp --app-id 0a1b2c3d --app-key-file key.secret"
            ),
        ],
        discussion: [
            "Signs in, makes or adopts the installation, and has the broker keep a session: from then on no push is "
                + "lost that is sent before the first 'kii-push listen'. To register again changes nothing but the format of payloads, if one is named."
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.missingInput, .cannotCreate, .inputOutput],
        environment: EnvironmentVariable.ofCloudCommands + [.password, .stateHome, .stateDirectory]
    )

    @OptionGroup(title: "Principal") var principal: PrincipalOptions

    @Option(
        value: "FORMAT",
        help: "How pushes are written: mqtt, or apns with alert, badge and sound. For the emulator alone.")
    var payload: PayloadFormat?

    @Flag(help: "Forget what the profile was registered as. A user without a password is lost by that.")
    var anew = false

    @OptionGroup var cloud: CloudCommandOptions

    func run() async throws {
        let console = self.cloud.output.console
        var profile = try Profile(self.cloud.profile, isReplacing: self.anew)
        let cloud = try profile.cloud(self.cloud.profile)
        cloud.warn(console)
        profile.forgetPassword(ofOthersThan: cloud.app)
        let former = self.anew ? nil : profile.saved?.account
        var account = self.principal.account ?? former ?? .pseudoUser
        if let password = try self.principal.password() { profile.credentials.password = password }
        if account != .pseudoUser, profile.credentials.password == nil {
            // The origin `.standard` does not matter: `register` shows no origins, and later commands read the password
            // from the registration's file.
            profile.credentials.password = Setting(try self.principal.askedPassword(of: account), .standard)
        }
        let isReplacing = try self.isReplacing(profile, by: account, in: cloud, console: console)
        if let former {
            // The cloud does not change the type of a thing that it knows. So the former type has precedence, unless
            // the registration is replaced.
            account = isReplacing ? account.completed(from: former) : former.completed(from: account)
        }
        let (saved, registration) = try await console.waiting {
            try await profile.register(
                account, with: cloud, calls: self.cloud.calls, isReplacing: isReplacing,
                isCreatingUser: self.principal.create, payload: self.payload, isAnew: self.anew)
        }
        try console.show(registration, of: saved, profile: profile)
        // Ignores an unreadable inbox, because other commands report it.
        for stranded in (try? InboxReader(stateDirectory: profile.directory).stranded()) ?? [] {
            console.warning("\(stranded.text); \(stranded.advice(profile.name))")
        }
    }

    /// Whether to replace the former registration.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 if a replacement is necessary and the options do not allow it.
    private func isReplacing(
        _ profile: Profile, by account: SavedProfile.Account, in cloud: CloudSettings, console: Console
    ) throws -> Bool {
        guard !self.anew, let saved = profile.saved else { return self.anew }
        let isSame = saved.account.isSameIdentity(as: account)
        if isSame, cloud.knows(saved) { return false }
        if isSame, case .emulator = saved.cloud, cloud.source == .emulator {
            console.status("the emulator that knew this profile is gone; registering with the one that runs")
            return true
        }
        throw CommandFailure(
            .configuration,
            "profile '\(profile.name)' is registered as \(saved.account.text) with app \(saved.appID)"
                + (saved.appID == cloud.app.appID && isSame ? " at another server" : ""),
            hint: "name another profile with --profile, or forget this one with --anew"
                + (saved.account == .pseudoUser ? ", which loses what is subscribed and waits for it" : ""))
    }
}

struct PrincipalOptions: ParsableArguments {
    @Option(value: "NAME", help: "Sign in as this user, by login name, e-mail address or phone number.")
    var user: String?

    @Flag(help: "Create the user if there is none of that login name.") var create = false

    @Option(value: "VENDOR_ID", help: "Sign in as this thing; it is registered if the cloud does not know it.")
    var thing: String?

    @Option(value: "TYPE", help: "The type of a thing that is registered by this.") var thingType: String?

    @Option(value: "FILE", help: "A file with the password alone, mode 0600.", completion: .file)
    var passwordFile: String?

    @Flag(help: "Read the password from the first line of standard input.") var passwordStdin = false
    @Flag(help: "Never ask for the password at the terminal.") var noInput = false

    func validate() throws {
        try self.exclude("user", "thing")
        if self.create, self.user == nil { throw CommandFailure(.usage, "'--create' needs '--user'") }
        if self.thingType != nil, self.thing == nil { throw CommandFailure(.usage, "'--thing-type' needs '--thing'") }
        try self.exclude("password-file", "password-stdin")
    }

    var account: SavedProfile.Account? {
        if let user = self.user { return .user(name: user) }
        return self.thing.map { .thing(vendorThingID: $0, type: self.thingType) }
    }

    func password() throws -> Setting<Secret>? {
        if let path = self.passwordFile { return Setting(try Secret.read(path), .option("--password-file")) }
        guard self.passwordStdin else { return nil }
        let line = try InputFile.firstLineOfStandardInput()
        guard !line.isEmpty else {
            throw CommandFailure(.configuration, "the first line of standard input is empty, and no password")
        }
        return Setting(Secret(line), .option("--password-stdin"))
    }

    /// Asks for the password at the terminal, twice with `--create`.
    ///
    /// - Throws: ``CommandFailure``, such as exit 78 without a terminal or with `--no-input`.
    func askedPassword(of account: SavedProfile.Account) throws -> Secret {
        guard PasswordPrompt.isPossible, !self.noInput else {
            throw CommandFailure(
                .configuration, "the password of \(account.text) is missing",
                hint: "give --password-file or --password-stdin, or set \(EnvironmentVariable.password.name)")
        }
        let password = try PasswordPrompt.read("Password of \(account.text.terminalSafe): ")
        if self.create, try PasswordPrompt.read("Repeat it: ") != password {
            throw CommandFailure(.configuration, "the two passwords are not the same")
        }
        return password
    }
}

/// The form in which the emulator writes an installation's pushes.
enum PayloadFormat: String, CaseIterable, ExpressibleByArgument {
    /// Kii's long keys, without `aps`. Kii's cloud sends this form over MQTT.
    case mqtt
    /// `aps` with alert, badge and sound, and Kii's short keys. Kii's cloud sends this form to Apple.
    case apns

    static var expectation: String { Self.allCases.map(\.rawValue).joined(separator: " or ") }

    var members: JSONValue { ["payload": JSONValue(self.rawValue)] }
}

extension Registration {
    var payload: PayloadFormat? {
        self.installationMembers?["payload"]?.string.flatMap { PayloadFormat(rawValue: $0) }
    }
}
