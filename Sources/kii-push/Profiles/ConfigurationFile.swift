import KiiPushCore

/// What the files of configuration say about one profile: the user's `config.json`, then those of the system. Each member
/// is taken from the first file that has it.
package struct ProfileConfiguration: Sendable {
    /// The part of one file that is about the profile.
    struct Part: Sendable {
        let document: ConfigurationDocument
        /// Where the part is.
        let pointer: JSONPointer

        /// A member, and where it is.
        func member(_ key: String) -> (value: JSONValue, pointer: JSONPointer)? {
            let place = self.pointer.appending(key)
            return self.document.root[place].map { ($0, place) }
        }

        func origin(of key: String) -> SettingOrigin {
            let place = self.pointer.appending(key)
            return .file(path: self.document.path, place: self.document.place(of: place), pointer: place.description)
        }
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
        for part in self.parts {
            guard let (value, pointer) = part.member("run") else { continue }
            return try RunSettings(value, at: pointer, in: part.document)
        }
        return nil
    }

    /// The members of `run` as they are written, whatever they are.
    package var runMembers: [(name: String, setting: Setting<String>)] {
        for part in self.parts {
            guard let (value, pointer) = part.member("run") else { continue }
            return (value.members ?? []).map { member in
                let place = pointer.appending(member.key)
                let origin = SettingOrigin.file(
                    path: part.document.path, place: part.document.place(of: place), pointer: place.description)
                return (member.key, Setting(member.value.string ?? member.value.text, origin))
            }
        }
        return []
    }

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

    /// Takes the parts of `profile` from files of which an earlier one wins.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 when one is wrong, or has a member that would be overlooked.
    package init(_ files: [VersionedFile], profile: String) throws {
        try self.init(files.compactMap { try Self.part(profile, $0) })
    }

    private init(_ parts: [Part]) throws {
        func first<Value>(
            _ key: String, _ read: (JSONValue, JSONPointer, ConfigurationDocument) throws -> Value?
        ) throws -> Setting<Value>? {
            for part in parts {
                guard let (value, pointer) = part.member(key) else { continue }
                return Setting(try read(value, pointer, part.document), part.origin(of: key))
            }
            return nil
        }
        self.parts = parts
        var baseURL: Setting<String>?
        for part in parts.reversed() { baseURL = try Self.address(part) ?? baseURL }
        self.baseURL = baseURL
        self.appID = try first("appID") { try $2.text(at: $1) }
        self.caFile = try first("caFile") { try $2.text(at: $1) }
        self.proxy = try first("proxy") { try $2.text(at: $1) }
        self.allowsPlainHTTP = try first("allowPlainHTTP") { value, pointer, document in
            guard let isAllowed = value.bool else { throw document.failure(at: pointer, "must be true or false") }
            return isAllowed
        }
        self.subscriptions = try first("subscriptions") { try DeclaredSubscriptions($0, at: $1, in: $2) }
    }

    /// The address that a part names, by itself or by a site.
    private static func address(_ part: Part) throws -> Setting<String>? {
        let place = part.pointer.appending("site")
        let address = try part.document.text(at: part.pointer.appending("baseURL"))
        guard let name = try part.document.text(at: place) else { return Setting(address, part.origin(of: "baseURL")) }
        guard let site = KiiSite(rawValue: name) else {
            throw part.document.failure(at: place, "is '\(name)': expected \(SiteName.expectation)")
        }
        guard address == nil else {
            throw part.document.failure(at: part.pointer, "has both site and baseURL", hint: "remove one of them")
        }
        return Setting(site.baseURL, part.origin(of: "site"))
    }

    /// The part of `file` for `profile`, which has known members only; `nil` when there is none.
    private static func part(_ profile: String, _ file: VersionedFile) throws -> Part? {
        let members = ["$schema", "version", "profiles"]
        guard let pointer = try file.part(of: profile, files: members, members: Self.members) else { return nil }
        return Part(document: file.document, pointer: pointer)
    }
}
