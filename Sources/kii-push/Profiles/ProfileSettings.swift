import KiiPushCommandLine
import KiiPushCore

/// The settings of a profile's cloud. For each setting the first of these sources counts: an option, the environment,
/// the user's file, the system's files, the profile's registration, a running emulator.
struct ProfileSettings: Sendable {
    let baseURL: Setting<String>?
    let appID: Setting<String>?
    let caFile: Setting<String>?
    let clientCertificateFile: Setting<String>?
    let clientKeyFile: Setting<String>?
    let proxy: Setting<String>?
    let userAgent: Setting<String>?
    let allowsPlainHTTP: Setting<Bool>?
    let transport: Setting<PushAgent.Transport>?
    let configuration: ProfileConfiguration
    let emulator: EmulatorRuntimeFile?
    let isOfEmulator: Bool

    init(options: ProfileOptions, profile: Profile) throws {
        let saved = profile.saved
        let configuration = try ProfileConfiguration.read(profile.location.paths, profile: profile.name)
        let registration = SettingOrigin.registration(path: profile.directory + "/profile.json")
        let named =
            Setting(options.baseURL, .option("--base-url")) ?? Setting(options.site?.baseURL, .option("--site"))
            ?? EnvironmentVariable.baseURL.setting ?? configuration.baseURL
        let namedID =
            Setting(options.appID, .option("--app-id")) ?? EnvironmentVariable.appID.setting ?? configuration.appID
        self.isOfEmulator = named == nil && namedID == nil && saved?.registeredURL == nil
        let emulatorPath = profile.location.paths.emulator
        let isGuessing = self.isOfEmulator && configuration.path == nil
        let emulator = isGuessing ? try EmulatorRuntimeFile.find(at: emulatorPath) : nil
        let found = SettingOrigin.emulator(path: emulatorPath)
        let savedID = saved?.registeredURL == nil ? nil : saved?.appID
        self.baseURL = named ?? Setting(saved?.registeredURL, registration) ?? Setting(emulator?.app.baseURL, found)
        self.appID = namedID ?? Setting(savedID, registration) ?? Setting(emulator?.app.appID, found)
        // A stored option of `register` belongs to the stored address, so it is not used with an address from another
        // source.
        let terms = named == nil ? saved?.terms : nil
        self.caFile =
            Setting(try options.connection.caFile.map(FilePaths.absolute), .option("--cacert"))
            ?? configuration.caFile ?? Setting(terms?.caFile, registration) ?? Setting(emulator?.caFile, found)
        self.clientCertificateFile =
            Setting(try options.connection.clientCertificateFile.map(FilePaths.absolute), .option("--client-cert"))
            ?? configuration.clientCertificateFile ?? Setting(terms?.clientCertificateFile, registration)
        self.clientKeyFile =
            Setting(try options.connection.clientKeyFile.map(FilePaths.absolute), .option("--client-key"))
            ?? configuration.clientKeyFile ?? Setting(terms?.clientKeyFile, registration)
        self.proxy = Setting(options.connection.proxy, .option("--proxy")) ?? configuration.proxy
        self.userAgent = Setting(options.connection.userAgent, .option("--user-agent")) ?? configuration.userAgent
        self.allowsPlainHTTP =
            Setting(options.allowPlainHTTP ? true : nil, .option("--allow-plain-http"))
            ?? configuration.allowsPlainHTTP ?? Setting(terms?.allowsPlainHTTP == true ? true : nil, registration)
        self.transport = Setting(options.transport, .option("--transport")) ?? configuration.transport
        self.configuration = configuration
        self.emulator = emulator
    }

    /// The settings that `register` stores: its own options, and the options stored by the former `register`.
    /// `allowsPlainHTTP` is stored even if it comes from a file.
    var terms: SavedProfile.Terms {
        func kept(_ setting: Setting<String>?) -> String? {
            switch setting?.origin {
            case .option?, .registration?: setting?.value
            case .environment?, .file?, .emulator?, .standard?, nil: nil
            }
        }
        return SavedProfile.Terms(
            allowsPlainHTTP: self.allowsPlainHTTP?.value ?? false, caFile: kept(self.caFile),
            clientCertificateFile: kept(self.clientCertificateFile), clientKeyFile: kept(self.clientKeyFile))
    }

    var source: CloudSettings.Source {
        let origins = [self.baseURL?.origin, self.appID?.origin].compactMap { $0 }
        let isGiven = origins.contains { origin in
            switch origin {
            case .option, .environment: true
            case .file, .registration, .emulator, .standard: false
            }
        }
        if isGiven { return .options }
        return origins.contains { if case .file = $0 { true } else { false } } ? .configuration : .registration
    }
}

extension EnvironmentVariable {
    fileprivate var setting: Setting<String>? { Setting(self.text, .environment(self)) }
}

extension SavedProfile {
    fileprivate var registeredURL: String? {
        switch self.cloud {
        case .emulator: nil
        case .kii(let baseURL, _, _): baseURL
        }
    }

    fileprivate var terms: Terms? {
        if case .kii(_, _, let terms) = self.cloud { terms } else { nil }
    }
}
