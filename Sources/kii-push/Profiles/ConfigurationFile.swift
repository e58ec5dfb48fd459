package import KiiPushCommandLine
import KiiPushCore

/// A setting of a profile's cloud: its name in the files and in `config show`, which lists them in this order.
package enum CloudSetting: String, CaseIterable, Sendable {
    case baseURL, appID, caFile, clientCertificateFile, clientKeyFile, proxy, userAgent, insecure, allowPlainHTTP
    case transport

    /// The value of a member of a file, in the form of ``ProfileSettings``.
    func text(of member: ConfigurationDocument) throws -> String {
        switch self {
        case .allowPlainHTTP: try member.flag() ? "true" : "false"
        case .transport: try member.word(of: PushAgent.Transport.allCases.map(\.rawValue))
        default: try member.text()
        }
    }

    /// The member that ``text(of:)`` reads.
    func json(_ text: String) -> JSONValue { self == .allowPlainHTTP ? JSONValue(text == "true") : JSONValue(text) }
}

/// The configuration of one profile: the user's `config.json`, then the system's files. If several files have a member,
/// the first file counts.
package struct ProfileConfiguration: Sendable {
    let parts: [ConfigurationDocument]
    package let cloud: [CloudSetting: Setting<String>]
    package let subscriptions: Setting<DeclaredSubscriptions>?

    /// Only an option switches the check of certificates off.
    private static let cloudSettings = CloudSetting.allCases.filter { $0 != .insecure }
    static let members = ["site"] + cloudSettings.map(\.rawValue) + ["subscriptions", "run"]

    var path: String? {
        self.parts.first { part in
            let keys = part.value.pairs.map { $0.0 }
            return keys.isEmpty || !Set(keys).isSubset(of: ["userAgent", "transport", "subscriptions", "run"])
        }?.document
    }

    /// Reads the settings of `run`. Other commands ignore mistakes in them.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 for a mistake.
    package func runSettings() throws -> RunSettings? { try self.run.map { try RunSettings($0) } }

    package var runMembers: [(name: String, setting: Setting<String>)] {
        guard let run = self.run else { return [] }
        return run.value.pairs.map { name, value in
            let member = ConfigurationDocument(value, in: run.document)
            return (name, Setting(value.string ?? value.text, member.origin))
        }
    }

    private var run: ConfigurationDocument? { self.parts.lazy.compactMap { $0["run"] }.first }

    /// Reads the parts of `profile`. If there are none, every setting is `nil`.
    ///
    /// - Throws: an error with exit 78 if a file is invalid, has an unknown member, or was named and is missing.
    static func read(_ paths: FilePaths, profile: String) throws -> ProfileConfiguration {
        let user = try ConfigurationDocument.read(trustedAt: paths.configuration)
        if user == nil, paths.isConfigurationNamed {
            throw CommandFailure(.configuration, "there is no configuration file \(paths.configuration)")
        }
        let system = try paths.systemConfigurations.compactMap { try ConfigurationDocument.read(trustedAt: $0) }
        return try ProfileConfiguration([user].compactMap { $0 } + system, profile: profile)
    }

    package init(_ files: [ConfigurationDocument], profile: String) throws {
        let parts = try files.compactMap {
            try $0.part(of: profile, files: ["$schema", "version", "profiles"], members: Self.members)
        }
        func first<Value>(_ key: String, _ read: (ConfigurationDocument) throws -> Value) throws -> Setting<Value>? {
            guard let member = parts.lazy.compactMap({ $0[key] }).first else { return nil }
            return Setting(try read(member), member.origin)
        }
        var cloud: [CloudSetting: Setting<String>] = [:]
        for part in parts.reversed() { cloud[.baseURL] = try Self.address(part) ?? cloud[.baseURL] }
        for setting in Self.cloudSettings where setting != .baseURL {
            cloud[setting] = try first(setting.rawValue, setting.text(of:))
        }
        self.parts = parts
        self.cloud = cloud
        self.subscriptions = try first("subscriptions") { try DeclaredSubscriptions($0) }
    }

    private static func address(_ part: ConfigurationDocument) throws -> Setting<String>? {
        let address: Setting<String>? = try part["baseURL"].map { Setting(try $0.text(), $0.origin) }
        guard let site = part["site"] else { return address }
        let name = try site.text()
        guard let known = KiiSite(rawValue: name) else {
            throw site.failure("is '\(name)': expected \(KiiSite.expectation)")
        }
        guard address == nil else { throw part.failure("has both site and baseURL", hint: "remove one of them") }
        return Setting(known.baseURL, site.origin)
    }
}
