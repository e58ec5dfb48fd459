import KiiPushCommandLine
import KiiPushCore

/// The settings of a profile's cloud. For each setting the first of these sources counts: an option, the environment,
/// the user's file, the system's files, the profile's registration, a running emulator.
///
/// Values are texts: `true` or `false` for a switch.
struct ProfileSettings: Sendable {
    let values: [CloudSetting: Setting<String>]
    let configuration: ProfileConfiguration
    let emulator: EmulatorRuntimeFile?
    let isOfEmulator: Bool

    init(options: ProfileOptions, profile: Profile) throws {
        let configuration = try ProfileConfiguration.read(profile.location.paths, profile: profile.name)
        var values = try options.cloud()
        for (setting, variable) in [(CloudSetting.baseURL, EnvironmentVariable.baseURL), (.appID, .appID)] {
            values[setting] = values[setting] ?? Setting(variable.text, .environment(variable))
        }
        values.fill(from: configuration.cloud)
        let isNamed = values[.baseURL] != nil || values[.appID] != nil
        if case .kii(let baseURL, let appID, let terms)? = profile.saved?.cloud {
            let origin = SettingOrigin.registration(path: profile.directory + "/profile.json")
            // A stored option of `register` belongs to the stored address, so it is not used with an address from
            // another source.
            if values[.baseURL] == nil { values.fill(from: terms.mapValues { Setting($0, origin) }) }
            values.fill(from: [.baseURL: Setting(baseURL, origin), .appID: Setting(appID, origin)])
            self.isOfEmulator = false
        } else {
            self.isOfEmulator = !isNamed
        }
        let path = profile.location.paths.emulator
        let isGuessing = self.isOfEmulator && configuration.path == nil
        let emulator = isGuessing ? try EmulatorRuntimeFile.find(at: path) : nil
        if let emulator {
            let found: [CloudSetting: String?] = [
                .baseURL: emulator.app.baseURL, .appID: emulator.app.appID, .caFile: emulator.caFile,
            ]
            values.fill(from: found.compactMapValues { Setting($0, .emulator(path: path)) })
        }
        let standard: [CloudSetting: String] = [.insecure: "false", .allowPlainHTTP: "false", .transport: "automatic"]
        values.fill(from: standard.mapValues { Setting($0, .standard) })
        self.values = values
        self.configuration = configuration
        self.emulator = emulator
    }

    subscript(setting: CloudSetting) -> String? { self.values[setting]?.value }

    func isOn(_ setting: CloudSetting) -> Bool { self[setting] == "true" }

    /// The settings that `register` stores: its own options, and the options stored by the former `register`.
    /// `allowPlainHTTP` is stored even if it comes from a file.
    var terms: [CloudSetting: String] {
        let kept = self.values.filter { setting, value in
            guard SavedProfile.terms.contains(setting) else { return false }
            guard setting != .allowPlainHTTP else { return self.isOn(.allowPlainHTTP) }
            return switch value.origin {
            case .option, .registration: true
            case .environment, .file, .emulator, .standard: false
            }
        }
        return kept.mapValues(\.value)
    }

    var source: CloudSettings.Source {
        let origins = [CloudSetting.baseURL, .appID].compactMap { self.values[$0]?.origin }
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

extension [CloudSetting: Setting<String>] {
    /// Adds settings of the next source.
    fileprivate mutating func fill(from source: Self) { self.merge(source) { former, _ in former } }
}

extension ProfileOptions {
    fileprivate func cloud() throws -> [CloudSetting: Setting<String>] {
        var given: [CloudSetting: Setting<String>] = [:]
        func add(_ setting: CloudSetting, _ option: String, _ value: String?) {
            if let value { given[setting] = Setting(value, .option(option)) }
        }
        let connection = self.connection
        add(.baseURL, "--site", self.site?.baseURL)
        add(.baseURL, "--base-url", self.baseURL)
        add(.appID, "--app-id", self.appID)
        add(.caFile, "--cacert", try connection.caFile.map(FilePaths.absolute))
        add(.clientCertificateFile, "--client-cert", try connection.clientCertificateFile.map(FilePaths.absolute))
        add(.clientKeyFile, "--client-key", try connection.clientKeyFile.map(FilePaths.absolute))
        add(.proxy, "--proxy", connection.proxy)
        add(.userAgent, "--user-agent", connection.userAgent)
        add(.insecure, "--insecure", connection.insecure ? "true" : nil)
        add(.allowPlainHTTP, "--allow-plain-http", self.allowPlainHTTP ? "true" : nil)
        add(.transport, "--transport", self.transport?.rawValue)
        return given
    }
}
