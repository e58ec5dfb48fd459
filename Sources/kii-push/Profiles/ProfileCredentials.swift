import KiiPushCore

/// The secrets of one profile: each from the first source that has it. The sources, in their order:
///
/// 1. the file that systemd hands to this service alone;
/// 2. the environment, which is said for one run as the app's ID and address are;
/// 3. `credentials.json`, which the user wrote;
/// 4. what `register` was given.
struct ProfileCredentials: Sendable {
    /// The secrets by name; the administrator's two are one.
    enum Name: String, Sendable, Hashable {
        case appKey
        case admin = "clientSecret"
        case password
    }

    var appKey: Secret?
    /// The app's administrator, whose ID and secret are of one source: half of one pair fits no half of another.
    var admin: AdminCredentials?
    var password: Secret?
    /// Where each was said.
    private(set) var origins: [Name: SettingOrigin] = [:]

    /// - Parameter isReplacing: whether what `register` was given is replaced, so that it need not be readable.
    /// - Throws: ``FileError`` when a file is open to others or belongs to another user; ``CommandFailure`` with exit 78
    ///   when a source has one half of the administrator's credentials.
    static func read(
        _ location: ProfileLocation, _ environment: ProcessEnvironment, isReplacing: Bool
    ) throws -> ProfileCredentials {
        var found = ProfileCredentials()
        func fill(from file: VersionedFile?) throws {
            guard let file else { return }
            found.fill(from: try ProfileCredentials(file, of: location.name), file.origin(location.name))
        }
        try fill(from: location.paths.systemCredentials.flatMap { try VersionedFile(trustedAt: $0) })
        found.fill(from: try ProfileCredentials(environment)) { .environment($0.variable) }
        try fill(from: VersionedFile(privateAt: location.paths.credentials))
        let path = Self.savedPath(location.directory)
        let saved = try Profile.registered(path, isReplacing: isReplacing) {
            try VersionedFile(privateAt: path).map { file in
                ProfileCredentials(appKey: try file.secret("appKey"), password: try file.secret("password"))
            }
        }
        if let saved { found.fill(from: saved) { _ in .registration(path: path) } }
        return found
    }

    /// Keeps what later commands need to sign in again, in the profile's own closed file.
    func write(directory: String) throws {
        let members: [(String, Secret?)] = [("appKey", self.appKey), ("password", self.password)]
        try VersionedFile.write(
            members.compactMap { name, secret in secret.map { (name, JSONValue($0.reveal())) } },
            to: Self.savedPath(directory))
    }

    static func savedPath(_ directory: String) -> String { directory + "/credentials.json" }

    /// Takes the key of the app from a file that an option named.
    mutating func take(appKey: Secret, of option: String) {
        self.appKey = appKey
        self.origins[.appKey] = .option(option)
    }

    private mutating func fill(from other: ProfileCredentials, _ origin: (Name) -> SettingOrigin) {
        if self.appKey == nil, other.appKey != nil { self.origins[.appKey] = origin(.appKey) }
        if self.admin == nil, other.admin != nil { self.origins[.admin] = origin(.admin) }
        if self.password == nil, other.password != nil { self.origins[.password] = origin(.password) }
        self.appKey = self.appKey ?? other.appKey
        self.admin = self.admin ?? other.admin
        self.password = self.password ?? other.password
    }
}

extension ProfileCredentials {
    /// What a file of secrets may say about a profile.
    private static let members = ["appKey", "clientID", "clientSecret", "password"]

    fileprivate init(_ file: VersionedFile, of profile: String) throws {
        let part = try file.part(of: profile, files: ["version", "profiles"], members: Self.members)
        guard let pointer = part else { return }
        self.appKey = try file.secret("profiles", profile, "appKey")
        self.password = try file.secret("profiles", profile, "password")
        self.admin = try Self.admin(
            id: try file.text("profiles", profile, "clientID"),
            secret: try file.secret("profiles", profile, "clientSecret"),
            in: "\(file.document.place(of: pointer)): \(pointer)", names: ("clientID", "clientSecret"))
    }

    fileprivate init(_ environment: ProcessEnvironment) throws {
        self.appKey = environment.text(.appKey).map { Secret($0) }
        self.password = environment.text(.password).map { Secret($0) }
        self.admin = try Self.admin(
            id: environment.text(.clientID), secret: environment.text(.clientSecret).map { Secret($0) },
            in: "the environment",
            names: (EnvironmentVariable.clientID.rawValue, EnvironmentVariable.clientSecret.rawValue))
    }

    private static func admin(
        id: String?, secret: Secret?, in source: String, names: (id: String, secret: String)
    ) throws -> AdminCredentials? {
        switch (id, secret) {
        case (let id?, let secret?): return AdminCredentials(clientID: id, clientSecret: secret)
        case (nil, nil): return nil
        default:
            let (present, missing) = id == nil ? (names.secret, names.id) : (names.id, names.secret)
            throw CommandFailure(
                .configuration, "\(source) has \(present) without \(missing)",
                hint: "write both into one place: kii-push help files")
        }
    }
}

extension ProfileCredentials.Name {
    fileprivate var variable: EnvironmentVariable {
        switch self {
        case .appKey: .appKey
        case .admin: .clientSecret
        case .password: .password
        }
    }
}

extension VersionedFile {
    /// Where the secrets of a profile are in a file of them.
    fileprivate func origin(_ profile: String) -> (ProfileCredentials.Name) -> SettingOrigin {
        { self.document.origin(of: JSONPointer(tokens: ["profiles", profile, $0.rawValue])) }
    }

    /// The secret at the path of keys, `nil` when it is absent; throws ``CommandFailure`` (78) for anything else.
    fileprivate func secret(_ keys: String...) throws -> Secret? {
        let pointer = JSONPointer(tokens: keys)
        guard let text = try self.document.text(at: pointer) else { return nil }
        guard !text.isEmpty else { throw self.document.failure(at: pointer, "is empty") }
        return Secret(text)
    }
}
