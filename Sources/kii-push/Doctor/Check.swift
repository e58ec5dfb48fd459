import KiiPushCore

/// What `doctor` looks at. The codes are stable: programs go by them.
enum CheckCode: String, Sendable, Hashable, CaseIterable {
    case fileModes = "FILE-MODES"
    case configuration = "CONFIGURATION"
    case stateDirectory = "STATE-DIRECTORY"
    case inbox = "INBOX"
    case proxy = "PROXY"
    case dns = "DNS"
    case tcp = "TCP"
    case tlsExpiry = "TLS-EXPIRY"
    case tlsChain = "TLS-CHAIN"
    case tlsName = "TLS-NAME"
    case clock = "CLOCK"
    case app = "APP"
    case signIn = "SIGN-IN"
    case installation = "INSTALLATION"
    case connack = "CONNACK"
    case suback = "SUBACK"
    case roundTrip = "ROUND-TRIP"
    case service = "SERVICE"

    var title: String {
        switch self {
        case .fileModes: "files with secrets are closed to others"
        case .configuration: "configuration and credentials can be read"
        case .stateDirectory: "the state can be written"
        case .inbox: "the inbox holds every message"
        case .proxy: "the proxy lets us through"
        case .dns: "the name has an address"
        case .tcp: "somebody accepts connections"
        case .tlsExpiry: "the certificate has not ended"
        case .tlsChain: "the certificate is trusted"
        case .tlsName: "the certificate is for this name"
        case .clock: "the clock is right"
        case .app: "the cloud takes the app's ID and key"
        case .signIn: "the cloud takes the profile's token"
        case .installation: "the installation has an MQTT endpoint"
        case .connack: "the broker lets us in"
        case .suback: "the broker grants the subscription"
        case .roundTrip: "a push arrives"
        case .service: "what the program runs in"
        }
    }
}

/// One check and what came of it.
struct Check: Sendable {
    /// Which of the two servers a check is about.
    enum Server: String, Sendable, Hashable {
        case cloud
        case broker
    }

    /// What tells the checks of one report apart.
    struct Key: Sendable, Hashable {
        var code: CheckCode
        var server: Server?

        init(_ code: CheckCode, _ server: Server? = nil) {
            self.code = code
            self.server = server
        }

        var text: String { self.code.rawValue + (self.server.map { " \($0.rawValue)" } ?? "") }
    }

    let key: Key
    let finding: Finding
}

/// What a check found.
struct Finding: Sendable {
    enum Outcome: String, Sendable {
        case ok
        case warning
        case failed
        case skipped
    }

    let outcome: Outcome
    /// What was seen, in one line, without a secret.
    let evidence: String
    /// What to do about it; `nil` where nothing is to be done.
    let fix: String?
    /// How the command ends if this is the first check that failed; `nil` unless it failed.
    let exit: ExitStatus?
    /// Whether checks that need this one make no sense either.
    let isInTheWay: Bool

    private init(
        _ outcome: Outcome, _ evidence: String, fix: String? = nil, exit: ExitStatus? = nil,
        isInTheWay: Bool = false
    ) {
        self.outcome = outcome
        self.evidence = evidence
        self.fix = fix
        self.exit = exit
        self.isInTheWay = isInTheWay
    }

    static func ok(_ evidence: String) -> Finding { Finding(.ok, evidence) }

    static func warning(_ evidence: String, fix: String) -> Finding { Finding(.warning, evidence, fix: fix) }

    static func failed(_ evidence: String, fix: String, exit: ExitStatus, isInTheWay: Bool = true) -> Finding {
        Finding(.failed, evidence, fix: fix, exit: exit, isInTheWay: isInTheWay)
    }

    /// There is nothing to check.
    static func needless(_ reason: String) -> Finding { Finding(.skipped, reason) }

    /// It could not be checked, and neither can what needs it.
    static func unknown(_ reason: String) -> Finding { Finding(.skipped, reason, isInTheWay: true) }

    /// It failed in the words of the command line.
    static func failed(_ error: any Error, fix: String? = nil) -> Finding {
        let failure = CommandFailure(describing: error)
        return .failed(failure.message, fix: fix ?? failure.hint ?? "see the message", exit: failure.exit)
    }
}
