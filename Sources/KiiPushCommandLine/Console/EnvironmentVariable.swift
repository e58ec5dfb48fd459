import Glibc

package enum EnvironmentVariable: CaseIterable, Sendable {
    case profile, configurationFile, baseURL, appID, appKey, clientID, clientSecret, password
    case configurationHome, configurationDirectories, stateHome, runtimeDirectory, stateDirectory
    case credentialsDirectory, home, path, noColor, color, forceColor, terminal, columns, notifySocket
    case watchdogMicroseconds, watchdogProcess, journalStream
    case store, passwordFile

    package static let ofCloudCommands: [EnvironmentVariable] = [
        .profile, .configurationFile, .baseURL, .appID, .appKey, .clientID, .clientSecret,
    ]

    package static let ofGateways: [EnvironmentVariable] = [.store, .passwordFile]

    package var name: String { self.texts.name }
    package var meaning: String { self.texts.meaning }
    package var row: (String, String) { self.texts }

    private var texts: (name: String, meaning: String) {
        switch self {
        case .profile: ("KII_PUSH_PROFILE", "The profile, where --profile is not given.")
        case .configurationFile: ("KII_PUSH_CONFIG", "The configuration file, where --config is not given.")
        case .baseURL: ("KII_PUSH_BASE_URL", "The address of the cloud, up to and with /api.")
        case .appID: ("KII_PUSH_APP_ID", "The ID of the app.")
        case .appKey: ("KII_PUSH_APP_KEY", "The key of the app.")
        case .clientID: ("KII_PUSH_CLIENT_ID", "The client ID of the app's admin.")
        case .clientSecret: ("KII_PUSH_CLIENT_SECRET", "The client secret of the app's admin.")
        case .password: ("KII_PUSH_PASSWORD", "The password of the user or thing to register as.")
        case .configurationHome:
            ("XDG_CONFIG_HOME", "Where config.json and credentials.json are: below kii-push. Default ~/.config.")
        case .configurationDirectories:
            (
                "XDG_CONFIG_DIRS",
                "Where the system's config.json is: below kii-push, the first directory first. Default /etc/xdg."
            )
        case .stateHome: ("XDG_STATE_HOME", "Where profiles are: below kii-push. Default ~/.local/state.")
        case .runtimeDirectory: ("XDG_RUNTIME_DIR", "Where the emulator is found: below kii-push.")
        case .stateDirectory: ("STATE_DIRECTORY", "Where profiles are, set by systemd. Wins over XDG_STATE_HOME.")
        case .credentialsDirectory:
            ("CREDENTIALS_DIRECTORY", "Where systemd puts kii-push-credentials.json, or pgpass of a gateway.")
        case .home: ("HOME", "The home directory.")
        case .path: ("PATH", "Where programs are that are named without a slash.")
        case .noColor: ("NO_COLOR", "Not empty: no colours.")
        case .color: ("CLICOLOR", "0: no colours.")
        case .forceColor: ("CLICOLOR_FORCE", "Neither empty nor 0: colours, also where there is no terminal.")
        case .terminal: ("TERM", "dumb: no colours.")
        case .columns: ("COLUMNS", "How wide the terminal is, where it is another than the terminal says.")
        case .notifySocket: ("NOTIFY_SOCKET", "Where the service manager is told how 'run' is, set by systemd.")
        case .watchdogMicroseconds: ("WATCHDOG_USEC", "How often it wants to hear that 'run' is alive, set by systemd.")
        case .watchdogProcess: ("WATCHDOG_PID", "Which process it wants to hear that from, set by systemd.")
        case .journalStream: ("JOURNAL_STREAM", "Which stream is the journal's, set by systemd.")
        case .store: ("KII_PUSH_STORE", "The database of a fleet, where --store is not given.")
        case .passwordFile: ("PGPASSFILE", "Where passwords for databases are, in libpq's form. Default ~/.pgpass.")
        }
    }
}

extension EnvironmentVariable {
    /// The variable's value; `nil` if the variable is not set. An empty value counts as set.
    package var value: String? { getenv(self.name).map { String(cString: $0) } }

    package var text: String? { self.value.flatMap { $0.isEmpty ? nil : $0 } }

    /// The directory in the variable. Relative paths are ignored, as XDG requires.
    package var directory: String? { self.text.flatMap { $0.hasPrefix("/") ? $0 : nil } }
}
