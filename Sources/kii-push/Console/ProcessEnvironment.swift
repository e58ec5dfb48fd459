import Glibc

/// The environment variables that this program reads, and what each is for.
enum EnvironmentVariable: String, CaseIterable, Sendable {
    case profile = "KII_PUSH_PROFILE"
    case configurationFile = "KII_PUSH_CONFIG"
    case baseURL = "KII_PUSH_BASE_URL"
    case appID = "KII_PUSH_APP_ID"
    case appKey = "KII_PUSH_APP_KEY"
    case clientID = "KII_PUSH_CLIENT_ID"
    case clientSecret = "KII_PUSH_CLIENT_SECRET"
    case password = "KII_PUSH_PASSWORD"
    case configurationHome = "XDG_CONFIG_HOME"
    case configurationDirectories = "XDG_CONFIG_DIRS"
    case stateHome = "XDG_STATE_HOME"
    case runtimeDirectory = "XDG_RUNTIME_DIR"
    case stateDirectory = "STATE_DIRECTORY"
    case credentialsDirectory = "CREDENTIALS_DIRECTORY"
    case home = "HOME"
    case path = "PATH"
    case noColor = "NO_COLOR"
    case color = "CLICOLOR"
    case forceColor = "CLICOLOR_FORCE"
    case terminal = "TERM"
    case columns = "COLUMNS"
    case notifySocket = "NOTIFY_SOCKET"
    case watchdogMicroseconds = "WATCHDOG_USEC"
    case watchdogProcess = "WATCHDOG_PID"
    case journalStream = "JOURNAL_STREAM"

    /// What a command that talks to a cloud reads.
    static let ofCloudCommands: [EnvironmentVariable] = [
        .profile, .configurationFile, .baseURL, .appID, .appKey, .clientID, .clientSecret,
    ]

    /// For help.
    var meaning: String {
        switch self {
        case .profile: "The profile, where --profile is not given."
        case .configurationFile: "The configuration file, where --config is not given."
        case .baseURL: "The address of the cloud, up to and with /api."
        case .appID: "The ID of the app."
        case .appKey: "The key of the app."
        case .clientID: "The client ID of the app's admin."
        case .clientSecret: "The client secret of the app's admin."
        case .password: "The password of the user or thing to register as."
        case .configurationHome: "Where config.json and credentials.json are: below kii-push. Default ~/.config."
        case .configurationDirectories:
            "Where the system's config.json is: below kii-push, the first directory first. Default /etc/xdg."
        case .stateHome: "Where profiles are: below kii-push. Default ~/.local/state."
        case .runtimeDirectory: "Where the emulator is found: below kii-push."
        case .stateDirectory: "Where profiles are, set by systemd. Wins over XDG_STATE_HOME."
        case .credentialsDirectory: "Where kii-push-credentials.json is, set by systemd."
        case .home: "The home directory."
        case .path: "Where programs are that are named without a slash."
        case .noColor: "Not empty: no colours."
        case .color: "0: no colours."
        case .forceColor: "Neither empty nor 0: colours, also where there is no terminal."
        case .terminal: "dumb: no colours."
        case .columns: "How wide the terminal is, where it is another than the terminal says."
        case .notifySocket: "Where the service manager is told how 'run' is, set by systemd."
        case .watchdogMicroseconds: "How often it wants to hear that 'run' is alive, set by systemd."
        case .watchdogProcess: "Which process it wants to hear that from, set by systemd."
        case .journalStream: "Which stream is the journal's, set by systemd."
        }
    }
}

/// Reads the process environment.
struct ProcessEnvironment: Sendable {
    /// `nil` when it is not set; an empty value counts as set.
    subscript(variable: EnvironmentVariable) -> String? { getenv(variable.rawValue).map { String(cString: $0) } }

    /// The value when it is set and not empty.
    func text(_ variable: EnvironmentVariable) -> String? { self[variable].flatMap { $0.isEmpty ? nil : $0 } }

    /// The directory that the variable names. XDG: a relative path is to be ignored.
    func directory(_ variable: EnvironmentVariable) -> String? {
        self.text(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
