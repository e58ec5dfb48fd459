import KiiPushCore

/// What the user wrote into `config.json` about one profile.
struct ProfileConfiguration: Sendable {
    var baseURL: String?
    var appID: String?
    var caFile: String?
    var proxy: String?
    /// The file, when it says anything about the profile. Nothing is guessed for such a profile.
    var path: String?

    private static let members = ["site", "baseURL", "appID", "caFile", "proxy"]

    /// Reads the part of `profile`; everything is `nil` when there is no file or no such part.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 when the file is wrong, or has a member that would be overlooked.
    static func read(_ paths: FilePaths, profile: String) throws -> ProfileConfiguration {
        guard let file = try VersionedFile(openAt: paths.configuration) else {
            guard !paths.isConfigurationNamed else {
                throw CommandFailure(.configuration, "there is no configuration file \(paths.configuration)")
            }
            return ProfileConfiguration()
        }
        guard try Self.describes(profile, file) else { return ProfileConfiguration() }
        var baseURL = try file.text("profiles", profile, "baseURL")
        if let name = try file.text("profiles", profile, "site") {
            guard let site = KiiSite(rawValue: name) else {
                throw CommandFailure(
                    .configuration,
                    "\(paths.configuration): /profiles/\(profile)/site is '\(name)': expected \(SiteName.expectation)"
                )
            }
            guard baseURL == nil else {
                throw CommandFailure(
                    .configuration,
                    "\(paths.configuration): profile '\(profile)' has both site and baseURL",
                    hint: "remove one of them"
                )
            }
            baseURL = site.baseURL
        }
        return ProfileConfiguration(
            baseURL: baseURL,
            appID: try file.text("profiles", profile, "appID"),
            caFile: try file.text("profiles", profile, "caFile"),
            proxy: try file.text("profiles", profile, "proxy"),
            path: paths.configuration
        )
    }

    /// Whether `file` has a part for `profile`, which then has known members only.
    private static func describes(_ profile: String, _ file: VersionedFile) throws -> Bool {
        guard let profiles = file.root["profiles"] else { return false }
        guard profiles.kind == .object else {
            throw CommandFailure(.configuration, "\(file.path): /profiles must be an object")
        }
        guard let part = profiles[profile] else { return false }
        guard let members = part.members else {
            throw CommandFailure(.configuration, "\(file.path): /profiles/\(profile) must be an object")
        }
        guard let unknown = members.first(where: { !Self.members.contains($0.key) })?.key else { return true }
        let guess = suggestion(for: unknown, among: Self.members).map { "; did you mean '\($0)'?" } ?? ""
        throw CommandFailure(
            .configuration,
            "\(file.path): profile '\(profile)' has the unknown member '\(unknown)'\(guess)",
            hint: "a profile has " + Self.members.joined(separator: ", ")
        )
    }
}
