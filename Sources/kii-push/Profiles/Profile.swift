import KiiPushCommandLine
import KiiPushCore

struct Profile: Sendable {
    let location: ProfileLocation
    let saved: SavedProfile?
    let registration: Registration?
    var credentials: ProfileCredentials

    var name: String { self.location.name }
    var directory: String { self.location.directory }

    /// Reads the files and variables that `options` and the environment name. Uses no network.
    ///
    /// - Parameter isReplacing: whether the profile is registered anew. Its former files may then be malformed.
    /// - Throws: ``CommandFailure`` or ``FileError``, with exit 78 if a file is invalid or unsafe.
    init(_ options: ProfileOptions, isReplacing: Bool = false) throws {
        try self.init(named: options.profile, configurationFile: options.config, isReplacing: isReplacing)
        if let path = options.appKeyFile {
            self.credentials.appKey = Setting(try Secret.read(path), .option("--app-key-file"))
        }
    }

    init(named name: String?, configurationFile: String? = nil, isReplacing: Bool = false) throws {
        self.location = try ProfileLocation(named: name, configurationFile: configurationFile)
        let directory = self.location.directory
        self.saved = try Self.registered(SavedProfile.path(directory), isReplacing: isReplacing) {
            try SavedProfile.read(directory: directory)
        }
        self.registration = try Self.registered(directory, isReplacing: isReplacing) {
            try PushAgent.registration(in: directory)
        }
        self.credentials = try ProfileCredentials.read(self.location, isReplacing: isReplacing)
    }

    static func registered<Value>(_ path: String, isReplacing: Bool, _ read: () throws -> Value?) throws -> Value? {
        do {
            return try read()
        } catch let error where isReplacing && Self.isMalformed(error, path) {
            return nil
        }
    }

    private static func isMalformed(_ error: any Error, _ path: String) -> Bool {
        switch error {
        case FileError.tooLarge, FileError.malformed, FileError.newerFormat: return true
        // If the file can be read and has safe permissions, its content is wrong.
        case is CommandFailure:
            do { return try PrivateFile.read(path) != nil } catch { return Self.isMalformed(error, path) }
        default: return false
        }
    }

    /// - Throws: ``CommandFailure``, such as exit 78 if no cloud is configured, and 69 if its emulator is not running.
    func cloud(_ options: ProfileOptions) throws -> CloudSettings { try CloudSettings(options: options, profile: self) }

    func registration(with cloud: CloudSettings) throws -> (saved: SavedProfile, registration: Registration) {
        let (saved, registration) = try self.registered()
        guard !cloud.knows(saved) else { return (saved, registration) }
        func failure(_ how: String, hint: String = "name another one with --profile") -> CommandFailure {
            CommandFailure(.configuration, "profile '\(self.name)' is registered \(how)", hint: hint)
        }
        if case .emulator = saved.cloud, cloud.source == .emulator {
            throw failure("with an emulator whose state is gone", hint: self.registerHint)
        }
        guard saved.appID == cloud.app.appID else {
            throw failure("with app \(saved.appID), not with \(cloud.app.appID)")
        }
        throw failure("at another server than \(cloud.app.baseURL), which does not get its token")
    }

    /// The app's key for a cloud. A key that `register` stored is only for the server of the registration.
    func appKey(for baseURL: String?) -> Secret? {
        self.isOfRegistration(self.credentials.appKey, elsewhereThan: baseURL) ? nil : self.credentials.appKey?.value
    }

    mutating func forgetPassword(ofOthersThan app: KiiApp) {
        if self.isOfRegistration(self.credentials.password, elsewhereThan: app.baseURL) {
            self.credentials.password = nil
        }
    }

    private func isOfRegistration(_ secret: Setting<Secret>?, elsewhereThan baseURL: String?) -> Bool {
        guard case .registration? = secret?.origin, let baseURL else { return false }
        return switch self.saved?.cloud {
        case .kii(let known, _, _)?: Origin(of: known) != Origin(of: baseURL)
        case .emulator?: Origin(of: baseURL)?.isLoopback != true
        // Without profile.json the server is unknown.
        case nil: true
        }
    }

    /// The registered account and its registration, with any cloud.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 if there is none.
    func registered() throws -> (saved: SavedProfile, registration: Registration) {
        guard let saved = self.saved, let registration = self.registration else {
            throw CommandFailure(.configuration, "profile '\(self.name)' is not registered", hint: self.registerHint)
        }
        return (saved, registration)
    }

    func agentConfiguration(_ account: SavedProfile.Account, at cloud: CloudSettings, creatingUser: Bool = false)
        -> PushAgent.Configuration
    {
        let password = self.credentials.password?.value ?? Secret("")
        let identity: KiiAccount =
            switch account {
            case .pseudoUser: .pseudoUser
            case .user(let name): .user(name: name, password: password, createsIfMissing: creatingUser)
            case .thing(let vendorThingID, let type):
                .thing(vendorThingID: vendorThingID, password: password, type: type)
            }
        var configuration = PushAgent.Configuration(app: cloud.app, account: identity)
        configuration.transport = cloud.transport
        return configuration
    }

    /// An agent for calls to the cloud alone; `nil` if the profile is not registered.
    ///
    /// - Parameter transport: Default: the cloud's.
    func callingAgent(
        in runtime: PushRuntime, at cloud: CloudSettings, over transport: PushAgent.Transport? = nil
    ) -> PushAgent? {
        guard let account = self.saved?.account else { return nil }
        var configuration = self.agentConfiguration(account, at: cloud)
        configuration.transport = transport ?? configuration.transport
        return PushAgent(runtime: runtime, configuration: configuration, handler: NoHandler())
    }

    var registerHint: String { "run: kii-push register" + self.option }

    /// Advice after the cloud has refused credentials, or a call for which the profile lacks the right.
    func hint(after refusal: KiiError) -> String {
        let isRightMissing = !(refusal.context["authenticatedPrincipalID"]?.string ?? "").isEmpty
        func signIn(_ option: String, _ id: String) -> String {
            "sign in again: kii-push register \(option) \(id) --password-stdin\(self.option)"
        }
        switch isRightMissing ? nil : self.saved?.account {
        case nil: return "do it as the app's admin: kii-push help files"
        case .user(let name)?: return signIn("--user", name)
        case .thing(let vendorThingID, _)?: return signIn("--thing", vendorThingID)
        // A pseudo user requests no tokens, so the cloud refused the administrator's credentials.
        case .pseudoUser? where refusal.operation.path.hasSuffix("/oauth2/token"):
            return "check clientID and clientSecret: kii-push help files"
        case .pseudoUser?:
            return "'kii-push register --anew\(self.option)' begins as another user; what is subscribed and waits for "
                + "this one is lost then"
        }
    }

    var option: String { self.location.option }
}

extension Secret {
    /// The content of a private file without line ends at its end.
    ///
    /// - Throws: ``FileError``, for example if other users can read the file; ``CommandFailure`` with exit 66 without a
    ///   file, and 78 for an empty file.
    static func read(_ path: String) throws -> Secret {
        guard let bytes = try PrivateFile.read(path) else {
            throw CommandFailure(.missingInput, "there is no file \(path)")
        }
        var text = String(decoding: bytes, as: UTF8.self)[...]
        while text.last?.isNewline ?? false { text.removeLast() }
        guard !text.isEmpty else { throw CommandFailure(.configuration, "\(path) is empty") }
        return Secret(String(text))
    }
}
