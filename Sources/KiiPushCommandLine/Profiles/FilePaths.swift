import Glibc
import KiiPushCore

/// The paths of files: XDG's base directories, and systemd's directories.
///
/// - Source: XDG Base Directory Specification 0.8; systemd.exec(5) for `STATE_DIRECTORY`, `CREDENTIALS_DIRECTORY`.
package struct FilePaths: Sendable {
    package let configuration: String
    /// Whether the user named the configuration file. The file must then exist.
    package let isConfigurationNamed: Bool
    /// The system's `config.json` files in the order of precedence, after the user's file.
    package let systemConfigurations: [String]
    package let credentials: String
    /// The credentials file that systemd passes only to this service; `nil` outside such a service. Root owns the file,
    /// and an access control list protects it.
    package let systemCredentials: String?
    package let profiles: String
    package let gateways: String
    package let emulator: String
    package let emulatorState: String

    package init(configurationFile: String? = nil) throws {
        let directory = try Self.configurationHome() + "/kii-push"
        let named = configurationFile ?? EnvironmentVariable.configurationFile.text
        self.configuration = named ?? directory + "/config.json"
        self.isConfigurationNamed = named != nil
        self.systemConfigurations = Self.systemConfigurations()
        self.credentials = directory + "/credentials.json"
        let handedOver = EnvironmentVariable.credentialsDirectory.directory
        self.systemCredentials = handedOver.map { $0 + "/kii-push-credentials.json" }
        // systemd separates several directories by colons. The first directory is the unit's main one.
        let ofService = EnvironmentVariable.stateDirectory.directory?.split(separator: ":").first.map(String.init)
        let stateHome = EnvironmentVariable.stateHome.directory
        let state = try ofService ?? ((stateHome ?? (Self.home() + "/.local/state")) + "/kii-push")
        self.profiles = state + "/profiles"
        self.gateways = state + "/gateways"
        self.emulatorState = state + "/emulator"
        self.emulator = Self.emulatorFile()
    }

    /// XDG's directories, by default `/etc/xdg`. `/etc/kii-push` is not among them: it belongs to the system service,
    /// whose secrets users cannot read.
    private static func systemConfigurations() -> [String] {
        let named = EnvironmentVariable.configurationDirectories.text?.split(separator: ":").map(String.init)
        // XDG requires to ignore relative paths.
        return (named ?? ["/etc/xdg"]).filter { $0.hasPrefix("/") }.map { $0 + "/kii-push/config.json" }
    }

    package static func absolute(_ path: String) throws -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let directory = getcwd(nil, 0) else {
            throw FileError.system(path: path, operation: "find", code: errno)
        }
        defer { free(directory) }
        return String(cString: directory) + "/" + path
    }

    package static func emulatorFile() -> String { RuntimeDirectory.standard() + "/emulator.json" }

    package static func configurationHome() throws -> String {
        try EnvironmentVariable.configurationHome.directory ?? (Self.home() + "/.config")
    }

    private static func home() throws -> String {
        if let home = EnvironmentVariable.home.directory { return home }
        guard let entry = getpwuid(geteuid()), let directory = entry.pointee.pw_dir else {
            throw CommandFailure(.configuration, "there is no home directory", hint: "set HOME")
        }
        return String(cString: directory)
    }
}
