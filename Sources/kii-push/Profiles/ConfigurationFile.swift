import KiiPushCore

/// What the files of configuration say about one profile: the user's `config.json`, then those of the system. Each member
/// is taken from the first file that has it.
package struct ProfileConfiguration: Sendable {
    /// The part of one file that is about the profile.
    struct Part: Sendable {
        let document: ConfigurationDocument
        /// Where the part is.
        let pointer: JSONPointer

        func member(_ key: String) -> Member? {
            let place = self.pointer.appending(key)
            return self.document.root[place].map { Member(document: self.document, pointer: place, value: $0) }
        }
    }

    /// A value of a part, and where it is.
    struct Member {
        let document: ConfigurationDocument
        let pointer: JSONPointer
        let value: JSONValue
    }

    /// In the order in which they win. Nothing is guessed for a profile that has any.
    let parts: [Part]
    package let baseURL: Setting<String>?
    package let appID: Setting<String>?
    package let caFile: Setting<String>?
    package let proxy: Setting<String>?
    package let allowsPlainHTTP: Setting<Bool>?
    package let subscriptions: Setting<DeclaredSubscriptions>?

    static let members = ["site", "baseURL", "appID", "caFile", "proxy", "allowPlainHTTP", "subscriptions", "run"]

    /// The first file that says, or should say, something about the profile's cloud; `nil` when none does.
    var path: String? {
        self.parts.first { part in
            let keys = (part.document.root[part.pointer]?.members ?? []).map(\.key)
            return keys.isEmpty || !Set(keys).isSubset(of: ["subscriptions", "run"])
        }?.document.path
    }

    /// What `run` is to do; `nil` when nothing is said. Read by who asks: a mistake in it is nothing to other commands.
    ///
    /// - Throws: ``CommandFailure`` with exit 78.
    package func runSettings() throws -> RunSettings? {
        try self.run.map { try RunSettings($0.value, at: $0.pointer, in: $0.document) }
    }

    /// The members of `run` as they are written, whatever they are.
    package var runMembers: [(name: String, setting: Setting<String>)] {
        guard let run = self.run else { return [] }
        return (run.value.members ?? []).map { member in
            let origin = run.document.origin(of: run.pointer.appending(member.key))
            return (member.key, Setting(member.value.string ?? member.value.text, origin))
        }
    }

    private var run: Member? { self.parts.lazy.compactMap { $0.member("run") }.first }

    /// Reads the parts of `profile`; everything is `nil` when there are none.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 when a file is wrong, or has a member that would be overlooked.
    static func read(_ paths: FilePaths, profile: String) throws -> ProfileConfiguration {
        let user = try VersionedFile(trustedAt: paths.configuration)
        if user == nil, paths.isConfigurationNamed {
            throw CommandFailure(.configuration, "there is no configuration file \(paths.configuration)")
        }
        let system = try paths.systemConfigurations.compactMap { try VersionedFile(trustedAt: $0) }
        return try ProfileConfiguration([user].compactMap { $0 } + system, profile: profile)
    }

    /// As above, from files of which an earlier one wins.
    package init(_ files: [VersionedFile], profile: String) throws {
        try self.init(files.compactMap { try Self.part(profile, $0) })
    }

    private init(_ parts: [Part]) throws {
        func first<Value>(_ key: String, _ read: (Member) throws -> Value?) throws -> Setting<Value>? {
            guard let member = parts.lazy.compactMap({ $0.member(key) }).first else { return nil }
            return Setting(try read(member), member.document.origin(of: member.pointer))
        }
        func text(_ key: String) throws -> Setting<String>? { try first(key) { try $0.document.text(at: $0.pointer) } }
        self.parts = parts
        var baseURL: Setting<String>?
        for part in parts.reversed() { baseURL = try Self.address(part) ?? baseURL }
        self.baseURL = baseURL
        self.appID = try text("appID")
        self.caFile = try text("caFile")
        self.proxy = try text("proxy")
        self.allowsPlainHTTP = try first("allowPlainHTTP") { member in
            guard let isAllowed = member.value.bool else {
                throw member.document.failure(at: member.pointer, "must be true or false")
            }
            return isAllowed
        }
        self.subscriptions = try first("subscriptions") {
            try DeclaredSubscriptions($0.value, at: $0.pointer, in: $0.document)
        }
    }

    /// The address that a part names, by itself or by a site.
    private static func address(_ part: Part) throws -> Setting<String>? {
        let (document, site) = (part.document, part.pointer.appending("site"))
        let addressPlace = part.pointer.appending("baseURL")
        let address = try document.text(at: addressPlace)
        guard let name = try document.text(at: site) else { return Setting(address, document.origin(of: addressPlace)) }
        guard let known = KiiSite(rawValue: name) else {
            throw document.failure(at: site, "is '\(name)': expected \(KiiSite.expectation)")
        }
        guard address == nil else {
            throw document.failure(at: part.pointer, "has both site and baseURL", hint: "remove one of them")
        }
        return Setting(known.baseURL, document.origin(of: site))
    }

    /// The part of `file` for `profile`, which has known members only; `nil` when there is none.
    private static func part(_ profile: String, _ file: VersionedFile) throws -> Part? {
        let members = ["$schema", "version", "profiles"]
        guard let pointer = try file.part(of: profile, files: members, members: Self.members) else { return nil }
        return Part(document: file.document, pointer: pointer)
    }
}
