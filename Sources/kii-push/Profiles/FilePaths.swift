import Glibc

/// Where the files are: the XDG base directories, and what systemd sets in their place.
///
/// - Source: XDG Base Directory Specification 0.8; systemd.exec(5) for `STATE_DIRECTORY`, `CREDENTIALS_DIRECTORY`.
struct FilePaths: Sendable {
    /// `config.json`.
    let configuration: String
    /// Whether the configuration file was named by the user, so that it has to exist.
    let isConfigurationNamed: Bool
    /// The system's `config.json` files, of which an earlier one wins, and over all of them the user's.
    let systemConfigurations: [String]
    /// The user's `credentials.json`.
    let credentials: String
    /// The file of the same form that systemd hands to this service alone, owned by root and closed to others by access
    /// control lists; `nil` when it hands over none. What it says wins over the environment, which wins over
    /// ``credentials``.
    let systemCredentials: String?
    /// The directory of all profiles.
    let profiles: String
    /// The running emulator's `emulator.json`.
    let emulator: String
    /// The directory in which the emulator keeps its state.
    let emulatorState: String

    /// - Throws: ``CommandFailure`` with exit 78 when there is no home directory to look in.
    init(environment: ProcessEnvironment, configurationFile: String?) throws {
        let configurationHome = try environment.directory(.configurationHome) ?? Self.home(environment) + "/.config"
        let directory = configurationHome + "/kii-push"
        let named = configurationFile ?? environment.text(.configurationFile)
        self.configuration = named ?? directory + "/config.json"
        self.isConfigurationNamed = named != nil
        self.systemConfigurations = Self.systemConfigurations(environment)
        self.credentials = directory + "/credentials.json"
        self.systemCredentials = environment.directory(.credentialsDirectory).map { $0 + "/kii-push-credentials.json" }
        // systemd separates several directories by colons; the first is the unit's main one.
        let ofService = environment.directory(.stateDirectory)?.split(separator: ":").first.map(String.init)
        let state = try ofService ?? (Self.stateHome(environment) + "/kii-push")
        self.profiles = state + "/profiles"
        self.emulatorState = state + "/emulator"
        self.emulator = Self.emulatorFile(environment)
    }

    /// XDG's directories, whose default is `/etc/xdg`, and last `/etc`, where administrators look.
    private static func systemConfigurations(_ environment: ProcessEnvironment) -> [String] {
        let named = environment.text(.configurationDirectories)?.split(separator: ":").map(String.init)
        // XDG: relative paths are to be ignored.
        let directories = (named ?? ["/etc/xdg"]).filter { $0.hasPrefix("/") } + ["/etc"]
        return directories.map { $0 + "/kii-push/config.json" }
    }

    /// Where the emulator says how it is reached.
    static func emulatorFile(_ environment: ProcessEnvironment) -> String {
        let directory = environment.directory(.runtimeDirectory).map { $0 + "/kii-push" }
        return (directory ?? "/tmp/kii-push-\(geteuid())") + "/emulator.json"
    }

    private static func stateHome(_ environment: ProcessEnvironment) throws -> String {
        try environment.directory(.stateHome) ?? self.home(environment) + "/.local/state"
    }

    private static func home(_ environment: ProcessEnvironment) throws -> String {
        if let home = environment.directory(.home) { return home }
        guard let entry = getpwuid(geteuid()), let directory = entry.pointee.pw_dir else {
            throw CommandFailure(.configuration, "there is no home directory", hint: "set HOME")
        }
        return String(cString: directory)
    }
}
