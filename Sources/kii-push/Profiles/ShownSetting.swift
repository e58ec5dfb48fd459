import KiiPushCommandLine
import KiiPushCore

struct ShownSetting: Sendable {
    var name: String
    var value: String?
    var origin: SettingOrigin
    var isSecret = false

    private init(_ name: String, _ setting: Setting<String>?) {
        self.name = name
        self.value = setting?.value
        self.origin = setting?.origin ?? .standard
    }

    private init(_ name: String, secretFrom origin: SettingOrigin?) {
        self.name = name
        self.value = origin == nil ? nil : ""
        self.origin = origin ?? .standard
        self.isSecret = true
    }

    static func files(of location: ProfileLocation) -> [ShownSetting] {
        location.files.map { kind, path in
            let isThere = InputFile.exists(path)
            return ShownSetting("file.\(kind)", Setting(path + (isThere ? "" : " (not there)"), .standard))
        }
    }

    static func all(of profile: Profile, _ options: ProfileOptions) throws -> [ShownSetting] {
        let settings = try ProfileSettings(options: options, profile: profile)
        let credentials = profile.credentials
        let emulator = settings.emulator.map { _ in SettingOrigin.emulator(path: profile.location.paths.emulator) }
        let declared = settings.configuration.subscriptions.map {
            Setting("\($0.value.topics.count) topics, \($0.value.buckets.count) buckets", $0.origin)
        }
        var shown = [ShownSetting("profile", profile.nameSetting(options))]
        shown += CloudSetting.allCases.map { setting in
            let value = settings.values[setting]
            let isAddress = setting == .baseURL || setting == .proxy
            return ShownSetting(setting.rawValue, isAddress ? value?.withoutCredentials : value)
        }
        shown += [
            ShownSetting("appKey", secretFrom: emulator ?? credentials.appKey?.origin),
            ShownSetting("admin", secretFrom: emulator ?? credentials.admin?.origin),
            ShownSetting("password", secretFrom: credentials.password?.origin),
            ShownSetting("subscriptions", declared),
        ]
        // Shown as written, but without credentials. `run` checks the members.
        shown += settings.configuration.runMembers.map { name, setting in
            ShownSetting("run.\(name)", name == "forwardTo" ? setting.withoutCredentials : setting)
        }
        shown.append(ShownSetting("state", profile.stateSetting))
        if let saved = profile.saved {
            let origin = SettingOrigin.registration(path: profile.directory + "/profile.json")
            shown.append(ShownSetting("account", Setting(saved.account.text, origin)))
            if case .thing(_, let type?) = saved.account {
                shown.append(ShownSetting("thingType", Setting(type, origin)))
            }
        }
        if let registration = profile.registration {
            let origin = SettingOrigin.registration(path: profile.directory)
            let principal = registration.principal
            shown.append(ShownSetting(principal.kind, Setting(principal.id, origin)))
            shown.append(ShownSetting("installation", Setting(registration.installationID, origin)))
            shown.append(ShownSetting("payloads", Setting(registration.payload?.rawValue, origin)))
        }
        return shown
    }
}

extension Profile {
    fileprivate func nameSetting(_ options: ProfileOptions) -> Setting<String> {
        if options.profile != nil { return Setting(self.name, .option("--profile")) }
        return Setting(self.name, EnvironmentVariable.profile.text == nil ? .standard : .environment(.profile))
    }

    fileprivate var stateSetting: Setting<String> {
        let variables: [EnvironmentVariable] = [.stateDirectory, .stateHome]
        let variable = variables.first { $0.directory != nil }
        return Setting(self.directory, variable.map { .environment($0) } ?? .standard)
    }
}

extension Setting<String> {
    fileprivate var withoutCredentials: Setting<String> {
        guard let at = self.value.lastIndex(of: "@") else { return self }
        let scheme = self.value.firstRange(bytesOf: "://").map { self.value[..<$0.upperBound] } ?? ""
        return Setting(scheme + "<set>" + self.value[at...], self.origin)
    }
}
