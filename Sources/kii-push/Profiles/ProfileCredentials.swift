import KiiPushCommandLine
import KiiPushCore

/// The secrets of one profile. For each secret the first of these sources counts:
///
/// 1. the file that systemd passes only to this service;
/// 2. the environment;
/// 3. `credentials.json`, which the user writes;
/// 4. the secrets given to `register`.
struct ProfileCredentials: Sendable {
    var appKey: Setting<Secret>?
    /// The administrator's ID and secret, always both from the same source.
    var admin: Setting<AdminCredentials>?
    var password: Setting<Secret>?

    /// - Parameter isReplacing: whether the secrets given to `register` are replaced. Their file may then be malformed.
    /// - Throws: ``FileError`` if another user owns a file or can read it; ``CommandFailure`` with exit 78 if a source
    ///   has only half of the administrator's credentials.
    static func read(_ location: ProfileLocation, isReplacing: Bool) throws -> ProfileCredentials {
        let paths = location.paths
        let ofService = try paths.systemCredentials.flatMap { try ConfigurationDocument.read(trustedAt: $0) }
        var found = try ProfileCredentials(ofService, of: location.name)
        found.fill(from: try .ofEnvironment())
        found.fill(from: try ProfileCredentials(.read(privateAt: paths.credentials), of: location.name))
        let path = Self.savedPath(location.directory)
        let saved = try Profile.registered(path, isReplacing: isReplacing) {
            try ConfigurationDocument.read(privateAt: path).map { file in
                func kept(_ key: String) throws -> Setting<Secret>? {
                    Setting(try file[key]?.secret().value, .registration(path: path))
                }
                return ProfileCredentials(appKey: try kept("appKey"), password: try kept("password"))
            }
        }
        if let saved { found.fill(from: saved) }
        return found
    }

    func write(directory: String, appKey: Secret?) throws {
        let members = [("appKey", appKey), ("password", self.password?.value)]
        try ConfigurationDocument.write(
            members.compactMap { name, secret in secret.map { (name, JSONValue($0.reveal())) } },
            to: Self.savedPath(directory))
    }

    static func savedPath(_ directory: String) -> String { directory + "/credentials.json" }

    private mutating func fill(from other: ProfileCredentials) {
        self.appKey = self.appKey ?? other.appKey
        self.admin = self.admin ?? other.admin
        self.password = self.password ?? other.password
    }
}

extension ProfileCredentials {
    fileprivate init(_ file: ConfigurationDocument?, of profile: String) throws {
        let members = ["appKey", "clientID", "clientSecret", "password"]
        guard let part = try file?.part(of: profile, files: ["version", "profiles"], members: members) else { return }
        self.appKey = try part["appKey"]?.secret()
        self.password = try part["password"]?.secret()
        self.admin = try Self.admin(
            id: try part["clientID"]?.text(), secret: try part["clientSecret"]?.secret(),
            in: "\(part.place): \(part.pointer)", names: ("clientID", "clientSecret"))
    }

    fileprivate static func ofEnvironment() throws -> ProfileCredentials {
        func secret(_ variable: EnvironmentVariable) -> Setting<Secret>? {
            variable.text.map { Setting(Secret($0), .environment(variable)) }
        }
        let names = (EnvironmentVariable.clientID.name, EnvironmentVariable.clientSecret.name)
        let admin = try Self.admin(
            id: EnvironmentVariable.clientID.text, secret: secret(.clientSecret), in: "the environment", names: names)
        return ProfileCredentials(appKey: secret(.appKey), admin: admin, password: secret(.password))
    }

    private static func admin(
        id: String?, secret: Setting<Secret>?, in source: String, names: (id: String, secret: String)
    ) throws -> Setting<AdminCredentials>? {
        switch (id, secret) {
        case (let id?, let secret?):
            return Setting(AdminCredentials(clientID: id, clientSecret: secret.value), secret.origin)
        case (nil, nil): return nil
        default:
            let (present, missing) = id == nil ? (names.secret, names.id) : (names.id, names.secret)
            throw CommandFailure(
                .configuration, "\(source) has \(present) without \(missing)",
                hint: "write both into one place: kii-push help files")
        }
    }
}

extension ConfigurationDocument {
    fileprivate func secret() throws -> Setting<Secret> {
        let text = try self.text()
        guard !text.isEmpty else { throw self.failure("is empty") }
        return Setting(Secret(text), self.origin)
    }
}
