import KiiPushCommandLine
import KiiPushCore

struct CloudSettings: Sendable {
    enum Source: String, Sendable {
        case options = "options or environment"
        case configuration = "configuration"
        case registration = "registration"
        case emulator = "emulator"
    }

    let app: KiiApp
    let admin: AdminCredentials?
    let source: Source
    private let settings: ProfileSettings

    var caFile: String? { self.settings[.caFile] }
    var proxy: String? { self.settings[.proxy] }
    var userAgent: String? { self.settings[.userAgent] }
    var isInsecure: Bool { self.settings.isOn(.insecure) }
    var transport: PushAgent.Transport {
        self.settings[.transport].flatMap { PushAgent.Transport(rawValue: $0) } ?? .automatic
    }

    /// If no setting names a cloud, a running emulator is used.
    init(options: ProfileOptions, profile: Profile) throws {
        let settings = try ProfileSettings(options: options, profile: profile)
        let location = profile.location
        self.settings = settings
        guard !settings.isOfEmulator else {
            if let path = settings.configuration.path {
                throw CommandFailure(
                    .configuration,
                    "\(path): profile '\(location.name)' names no cloud: \"appID\" and \"site\" or \"baseURL\" are missing",
                    hint: "add them, or remove the profile from the file to use the emulator")
            }
            guard let emulator = settings.emulator else {
                throw profile.saved == nil
                    ? CommandFailure(
                        .configuration, "no cloud is configured, and no emulator is running",
                        hint: "start one: kii-push emulator; or see: kii-push help files")
                    : CommandFailure(
                        .unreachable, "profile '\(location.name)' belongs to the emulator, which is not running",
                        hint: "start it: kii-push emulator")
            }
            self.app = emulator.app
            self.admin = emulator.admin
            self.source = .emulator
            return
        }
        self.source = settings.source
        func missing(_ what: String, _ hint: String) -> CommandFailure {
            CommandFailure(.configuration, "\(what) of profile '\(location.name)' is missing", hint: hint)
        }
        let configuration = location.paths.configuration
        guard let baseURL = settings[.baseURL] else {
            throw missing("the cloud's address", "give --site or --base-url, or \"site\" in \(configuration)")
        }
        let allowsPlainHTTP = settings.isOn(.allowPlainHTTP)
        try Self.requireWebAddress(baseURL, isOption: baseURL == options.baseURL, allowsPlainHTTP: allowsPlainHTTP)
        guard let appID = settings[.appID] else {
            throw missing("the app's ID", "give --app-id, or \"appID\" in \(configuration)")
        }
        guard let appKey = profile.appKey(for: baseURL) else {
            let variable = EnvironmentVariable.appKey.name
            // A service has no home directory, and gets its secrets from systemd.
            let ofService = "the file that the unit's LoadCredential= names (\(UnitFile.credentials))"
            let credentials = location.paths.systemCredentials == nil ? location.paths.credentials : ofService
            throw missing(
                "the app's key", "give --app-key-file, set \(variable), or write \"appKey\" into \(credentials)")
        }
        self.app = KiiApp(appID: appID, appKey: appKey, baseURL: baseURL, allowsPlainHTTP: allowsPlainHTTP)
        self.admin = profile.credentials.admin?.value
    }

    /// Checks the scheme, and refuses a user name or password. Errors quote only the scheme, because the rest may be
    /// secret.
    private static func requireWebAddress(_ url: String, isOption: Bool, allowsPlainHTTP: Bool) throws {
        let exit: ExitStatus = isOption ? .usage : .configuration
        if let origin = Origin(of: url), !origin.usesTLS, !origin.isLoopback, !allowsPlainHTTP {
            throw CommandFailure(
                exit, "the cloud's address is http: everyone on the way would read the app's key and tokens",
                hint: "write it with https://, or allow it: --allow-plain-http, "
                    + "or \"allowPlainHTTP\": true in config.json")
        }
        let behindScheme = url.firstRange(bytesOf: "://").map { url[$0.upperBound...] } ?? url[...]
        let authority = behindScheme.prefix { !"/?#\\".contains($0) }
        guard !authority.contains("@") else {
            throw CommandFailure(
                exit, "the cloud's address holds a user name or a password", hint: "leave out what stands before the @")
        }
        let scheme = url.prefix { $0 != ":" && $0 != "/" }
        let hasScheme = url.dropFirst(scheme.count).hasPrefix("://")
        guard !hasScheme || !["https", "http"].contains(scheme.lowercased()) else { return }
        let found = hasScheme ? ", not \(scheme)://" : ""
        throw CommandFailure(
            exit, "the cloud's address must begin with https:// or http://\(found)",
            hint: "write it as https://api-jp.kii.com/api")
    }
}

extension CloudSettings {
    var identity: SavedProfile.Cloud {
        guard self.source == .emulator, let admin = self.admin else {
            return .kii(baseURL: self.app.baseURL, appID: self.app.appID, terms: self.settings.terms)
        }
        return .emulator(appID: self.app.appID, clientID: admin.clientID)
    }

    /// Whether the profile was registered with this cloud: the same app at the same server. Only then its tokens may go
    /// there.
    func knows(_ saved: SavedProfile) -> Bool {
        switch saved.cloud {
        case .emulator: saved.cloud == self.identity
        case .kii(let baseURL, let appID, _): appID == self.app.appID && Origin(of: baseURL) == self.app.origin
        }
    }

    func runtimeConfiguration(stateDirectory: String, calls: CallOptions? = nil) -> PushRuntime.Configuration {
        var configuration = PushRuntime.Configuration(stateDirectory: stateDirectory)
        if let timeout = calls?.timeout?.duration { configuration.callTimeout = timeout }
        configuration.certificateAuthorityFile = self.caFile
        configuration.clientCertificateFile = self.settings[.clientCertificateFile]
        configuration.clientKeyFile = self.settings[.clientKeyFile]
        configuration.verifiesCertificates = !self.isInsecure
        configuration.proxy = self.proxy
        configuration.userAgent = self.userAgent ?? UserAgent.ofTool
        return configuration
    }

    /// Waits until the restarted emulator has another address. Reads `emulator.json` every half second, but only while
    /// there is no connection. Returns `false` for another cloud, and if the task is cancelled first.
    func emulatorMoves(in file: String, isOffline: @Sendable () -> Bool) async -> Bool {
        guard self.source == .emulator, let admin = self.admin else { return false }
        while true {
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return false }
            // Ignores an unreadable file, which may be half written. The agent reports why it is offline.
            guard isOffline(), let found = try? EmulatorRuntimeFile.find(at: file) else { continue }
            // The ID of the administrator is part of the emulator's state, so it identifies the emulator.
            if found.admin.clientID == admin.clientID, found.app.baseURL != self.app.baseURL { return true }
        }
    }

    func warn(_ console: Console) {
        guard self.isInsecure else { return }
        console.warning("certificates are not checked: anyone on the way can read and change everything")
    }
}
