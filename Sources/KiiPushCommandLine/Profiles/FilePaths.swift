import Glibc
import KiiPushCore

/// Where the files are: the XDG base directories, and what systemd sets in their place.
///
/// - Source: XDG Base Directory Specification 0.8; systemd.exec(5) for `STATE_DIRECTORY`, `CREDENTIALS_DIRECTORY`.
package struct FilePaths: Sendable {
    package let configuration: String
    /// Whether the configuration file was named by the user, so that it has to exist.
    package let isConfigurationNamed: Bool
    /// The system's `config.json` files, of which an earlier one wins, and over all of them the user's.
    package let systemConfigurations: [String]
    package let credentials: String
    /// The file of the same form that systemd hands to this service alone, owned by root and closed to others by access
    /// control lists; `nil` when it hands over none. What it says wins over the environment, which wins over
    /// ``credentials``.
    package let systemCredentials: String?
    package let profiles: String
    /// What gateways of a fleet keep on this machine.
    package let gateways: String
    package let emulator: String
    package let emulatorState: String

    /// - Throws: ``CommandFailure`` with exit 78 when there is no home directory to look in.
    package init(configurationFile: String? = nil) throws {
        let configurationHome = try EnvironmentVariable.configurationHome.directory ?? (Self.home() + "/.config")
        let directory = configurationHome + "/kii-push"
        let named = configurationFile ?? EnvironmentVariable.configurationFile.text
        self.configuration = named ?? directory + "/config.json"
        self.isConfigurationNamed = named != nil
        self.systemConfigurations = Self.systemConfigurations()
        self.credentials = directory + "/credentials.json"
        let handedOver = EnvironmentVariable.credentialsDirectory.directory
        self.systemCredentials = handedOver.map { $0 + "/kii-push-credentials.json" }
        // systemd separates several directories by colons; the first is the unit's main one.
        let ofService = EnvironmentVariable.stateDirectory.directory?.split(separator: ":").first.map(String.init)
        let stateHome = EnvironmentVariable.stateHome.directory
        let state = try ofService ?? ((stateHome ?? (Self.home() + "/.local/state")) + "/kii-push")
        self.profiles = state + "/profiles"
        self.gateways = state + "/gateways"
        self.emulatorState = state + "/emulator"
        self.emulator = Self.emulatorFile()
    }

    /// XDG's directories, whose default is `/etc/xdg`. `/etc/kii-push` is the service's, whose secrets users do not have.
    private static func systemConfigurations() -> [String] {
        let named = EnvironmentVariable.configurationDirectories.text?.split(separator: ":").map(String.init)
        // XDG: relative paths are to be ignored.
        return (named ?? ["/etc/xdg"]).filter { $0.hasPrefix("/") }.map { $0 + "/kii-push/config.json" }
    }

    /// The path as it is found from anywhere.
    package static func absolute(_ path: String) throws -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let directory = getcwd(nil, 0) else {
            throw FileError.system(path: path, operation: "find", code: errno)
        }
        defer { free(directory) }
        return String(cString: directory) + "/" + path
    }

    package static func emulatorFile() -> String { RuntimeDirectory.standard() + "/emulator.json" }

    private static func home() throws -> String {
        if let home = EnvironmentVariable.home.directory { return home }
        guard let entry = getpwuid(geteuid()), let directory = entry.pointee.pw_dir else {
            throw CommandFailure(.configuration, "there is no home directory", hint: "set HOME")
        }
        return String(cString: directory)
    }
}
