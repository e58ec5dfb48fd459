package import KiiPushCommandLine
import KiiPushCore

/// The configuration of one profile: the user's `config.json`, then the system's files. If several files have a member,
/// the first file counts.
package struct ProfileConfiguration: Sendable {
    let parts: [ConfigurationDocument]
    package let baseURL: Setting<String>?
    package let appID: Setting<String>?
    package let caFile: Setting<String>?
    package let clientCertificateFile: Setting<String>?
    package let clientKeyFile: Setting<String>?
    package let proxy: Setting<String>?
    package let userAgent: Setting<String>?
    package let allowsPlainHTTP: Setting<Bool>?
    let transport: Setting<PushAgent.Transport>?
    package let subscriptions: Setting<DeclaredSubscriptions>?

    static let members = [
        "site", "baseURL", "appID", "caFile", "clientCertificateFile", "clientKeyFile", "proxy", "userAgent",
        "allowPlainHTTP", "transport", "subscriptions", "run",
    ]

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
        self.parts = parts
        var baseURL: Setting<String>?
        for part in parts.reversed() { baseURL = try Self.address(part) ?? baseURL }
        self.baseURL = baseURL
        self.appID = try first("appID") { try $0.text() }
        self.caFile = try first("caFile") { try $0.text() }
        self.clientCertificateFile = try first("clientCertificateFile") { try $0.text() }
        self.clientKeyFile = try first("clientKeyFile") { try $0.text() }
        self.proxy = try first("proxy") { try $0.text() }
        self.userAgent = try first("userAgent") { try $0.text() }
        self.allowsPlainHTTP = try first("allowPlainHTTP") { try $0.flag() }
        self.transport = try first("transport") { member in
            let word = try member.word(of: PushAgent.Transport.allCases.map(\.rawValue))
            return PushAgent.Transport(rawValue: word) ?? .automatic
        }
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
