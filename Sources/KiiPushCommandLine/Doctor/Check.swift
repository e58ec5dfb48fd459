import KiiPushCore

/// The checks of `doctor`. Programs may rely on the codes.
package enum CheckCode: Sendable, Hashable, CaseIterable {
    case fileModes, configuration, stateDirectory, inbox, proxy, dns, tcp, tlsExpiry, tlsChain, tlsName, webSocket
    case clock, app, signIn, installation, connack, suback, roundTrip, store, gateways, service

    package var name: String { self.texts.name }
    package var title: String { self.texts.title }

    private var texts: (name: String, title: String) {
        switch self {
        case .fileModes: ("FILE-MODES", "files with secrets are closed to others")
        case .configuration: ("CONFIGURATION", "configuration and credentials can be read")
        case .stateDirectory: ("STATE-DIRECTORY", "the state can be written")
        case .inbox: ("INBOX", "the inbox holds every message")
        case .proxy: ("PROXY", "the proxy lets us through")
        case .dns: ("DNS", "the name has an address")
        case .tcp: ("TCP", "somebody accepts connections")
        case .tlsExpiry: ("TLS-EXPIRY", "the certificate has not ended")
        case .tlsChain: ("TLS-CHAIN", "the certificate is trusted")
        case .tlsName: ("TLS-NAME", "the certificate is for this name")
        case .webSocket: ("WEBSOCKET", "MQTT over WebSocket gets through")
        case .clock: ("CLOCK", "the clock is right")
        case .app: ("APP", "the cloud takes the app's ID and key")
        case .signIn: ("SIGN-IN", "the cloud takes the profile's token")
        case .installation: ("INSTALLATION", "the installation has an MQTT endpoint")
        case .connack: ("CONNACK", "the broker lets us in")
        case .suback: ("SUBACK", "the broker grants the subscription")
        case .roundTrip: ("ROUND-TRIP", "a push arrives")
        case .store: ("STORE", "gateways can use the database")
        case .gateways: ("GATEWAYS", "every agent has a gateway")
        case .service: ("SERVICE", "what the program runs in")
        }
    }
}

package struct Check: Sendable {
    package enum Server: String, Sendable, Hashable { case cloud, broker }

    package struct Key: Sendable, Hashable {
        package var code: CheckCode
        package var server: Server?

        package init(_ code: CheckCode, _ server: Server? = nil) { (self.code, self.server) = (code, server) }

        package var text: String { self.code.name + (self.server.map { " \($0.rawValue)" } ?? "") }
    }

    package let key: Key
    package let finding: Finding
}

package struct Finding: Sendable {
    package enum Outcome: String, Sendable { case ok, warning, failed, skipped }

    package let outcome: Outcome
    let evidence: String
    package let fix: String?
    /// The command's exit status if this is the first failed check; `nil` if the check did not fail.
    package let exit: ExitStatus?
    /// Whether the checks that need this one are skipped.
    package let isInTheWay: Bool

    private init(
        _ outcome: Outcome, _ evidence: String, fix: String? = nil, exit: ExitStatus? = nil, isInTheWay: Bool = false
    ) {
        (self.outcome, self.evidence) = (outcome, evidence)
        (self.fix, self.exit, self.isInTheWay) = (fix, exit, isInTheWay)
    }

    package static func ok(_ evidence: String) -> Finding { Finding(.ok, evidence) }
    package static func warning(_ evidence: String, fix: String) -> Finding { Finding(.warning, evidence, fix: fix) }

    package static func failed(_ evidence: String, fix: String, exit: ExitStatus, isInTheWay: Bool = true) -> Finding {
        Finding(.failed, evidence, fix: fix, exit: exit, isInTheWay: isInTheWay)
    }

    /// The server cannot be reached, or the connection is not secure.
    package static func unreachable(_ evidence: String, fix: String) -> Finding {
        .failed(evidence, fix: fix, exit: .unreachable)
    }

    package static func needless(_ reason: String) -> Finding { Finding(.skipped, reason) }

    /// The check could not be made. The checks that need it are skipped.
    package static func unknown(_ reason: String) -> Finding { Finding(.skipped, reason, isInTheWay: true) }

    package static func failed(_ error: any Error, fix: String? = nil) -> Finding {
        let failure = CommandFailure(describing: error)
        return .failed(failure.message, fix: fix ?? failure.hint ?? "see the message", exit: failure.exit)
    }
}

extension Console {
    package func show(_ check: Check) throws {
        let (key, finding) = (check.key, check.finding)
        let style: TextStyle =
            switch finding.outcome {
            case .ok: .green
            case .warning: .yellow
            case .failed: .red
            case .skipped: .dim
            }
        let outcome = self.style(finding.outcome.rawValue.padded(to: 9), style)
        try self.line("\(outcome)\(key.text.padded(to: 19))\(finding.evidence.terminalSafe)")
        try self.object(
            "check",
            [
                "code": key.code.name, "server": key.server?.rawValue, "title": key.code.title,
                "outcome": finding.outcome.rawValue, "evidence": finding.evidence, "fix": finding.fix,
                "exit": finding.exit?.rawValue,
            ])
    }
}
