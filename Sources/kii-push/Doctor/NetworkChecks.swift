import KiiPushCommandLine
import KiiPushCore

struct NetworkChecks: Sendable {
    let server: Check.Server
    let host: String
    let port: UInt16
    let usesTLS: Bool
    let usesProxy: Bool
    let isInsecure: Bool
    let report: PushRuntime.Inspection?
    let failure: TransportError?
    let now: Timestamp
    /// The broker's blocked port for MQTT over TLS, if these checks are about the broker's port for WebSocket.
    var swallowedPort: UInt16?

    private var place: String { "\(self.host):\(self.port)" }
    private var isConnected: Bool { self.report?.connectedAfter != nil }

    func note(in examination: inout Examination) throws {
        func key(_ code: CheckCode) -> Check.Key { Check.Key(code, self.server) }
        if self.usesProxy { try examination.note(key(.proxy), self.proxy) }
        let proxy = self.usesProxy ? [key(.proxy)] : []
        let none = Finding.needless("no TLS")
        try examination.note(key(.dns), after: proxy, self.name)
        try examination.note(key(.tcp), after: proxy + [key(.dns)], self.connection)
        try examination.note(key(.tlsExpiry), after: [key(.tcp)], self.usesTLS ? self.expiry : none)
        try examination.note(key(.tlsChain), after: [key(.tcp), key(.tlsExpiry)], self.usesTLS ? self.chain : none)
        let name = self.usesTLS ? self.certificateName : none
        try examination.note(key(.tlsName), after: [key(.tcp), key(.tlsChain)], name)
    }

    private var proxy: Finding {
        guard let failure = self.failure else { return .ok("it leads to \(self.place)") }
        let status = self.report?.proxyStatus ?? 0
        if status >= 300 {
            let fix = status == 407 ? "put the user name and password into the proxy's URL" : "allow it in the proxy"
            let evidence = "the proxy answers \(status) when it is to connect to \(self.place)"
            // Only a warning for plain HTTP: the proxy forwards such requests itself, although it refuses a tunnel to
            // the server.
            return self.usesTLS || self.server == .broker
                ? .unreachable(evidence, fix: fix) : .warning(evidence, fix: fix)
        }
        guard self.isConnected else {
            return .unreachable(
                failure.detail, fix: "check \"proxy\" in the configuration, or --proxy, and that it is running")
        }
        return .ok("it accepts connections")
    }

    private var name: Finding {
        if self.usesProxy { return .needless("the proxy looks the name up") }
        let isUnresolved = self.report?.isResolved != true
        if let failure = self.failure, failure.code == .nameNotResolved || (failure.code == .timedOut && isUnresolved) {
            return .unreachable(failure.detail, fix: "check the name '\(self.host)' and the DNS")
        }
        if let failure = self.failure, failure.code == .invalidConfiguration { return .failed(failure) }
        let address = self.report?.address ?? self.host
        return .ok(address == self.host ? "\(self.host) is an address" : "\(self.host) is at \(address)")
    }

    private var connection: Finding {
        guard self.isConnected || self.failure == nil else {
            let program = self.server == .broker ? "the MQTT broker" : "the server"
            return .unreachable(
                self.failure?.detail ?? "", fix: "see that \(program) runs at \(self.place) and no firewall is between")
        }
        if let port = self.swallowedPort {
            return .warning(
                "nothing gets through to \(self.host):\(port), and WebSocket does at \(self.place)",
                fix: "something on the way swallows port \(port): have it let through, or leave it to WebSocket "
                    + "('--transport webSocket' spares the attempts)")
        }
        if self.usesProxy { return .ok("through the proxy") }
        return .ok(self.place + (self.report?.connectedAfter.map { ", in \($0.text)" } ?? ""))
    }

    private var expiry: Finding {
        let ends = self.report?.certificates.compactMap(\.end) ?? []
        guard let end = ends.min() else { return .needless("no certificate was seen") }
        let left = Duration.milliseconds(end.millisecondsSinceEpoch - self.now.millisecondsSinceEpoch)
        guard left > .zero else {
            let evidence = "it ended on \(end), and by this machine's clock it is \(self.now)"
            return self.isInsecure
                ? .warning(evidence, fix: "have it renewed")
                : .unreachable(evidence, fix: "have the certificate of \(self.place) renewed")
        }
        let evidence = "it ends on \(end), in \(left.components.seconds / 86_400) days"
        return left < .seconds(14 * 86_400)
            ? .warning(evidence, fix: "have the certificate of \(self.place) renewed in time") : .ok(evidence)
    }

    private var chain: Finding {
        if self.isInsecure {
            return .warning(
                "not checked: anyone on the way can read and change everything",
                fix: "trust the authority in a file instead of --insecure: --cacert FILE")
        }
        guard let failure = self.failure, self.report?.isForAnotherName != true else {
            return .ok(self.report?.certificates.first?.issuer.map { "issued by \($0)" } ?? "trusted")
        }
        let fix =
            switch failure.code {
            case .certificateNotTrusted:
                "trust the authority in a file: --cacert FILE, or \"caFile\" in the configuration"
            case .clientCertificateRequired:
                "show a certificate: --client-cert FILE, or \"clientCertificateFile\" in the configuration"
            case .timedOut, .connectionLost:
                "see that the program at \(self.place) works: it took the connection, and said nothing or ended it"
            default: "check that \(self.place) speaks TLS"
            }
        return .failed(
            failure.detail, fix: fix, exit: failure.code == .invalidConfiguration ? .configuration : .unreachable)
    }

    private var certificateName: Finding {
        if self.isInsecure { return .needless("not checked") }
        guard self.report?.isForAnotherName != true else {
            let subject = self.report?.certificates.first?.subject ?? "somebody else"
            return .unreachable(
                "it is for \(subject), not for \(self.host)",
                fix: "use the name that the certificate is for, or have one made for \(self.host)")
        }
        return .ok("it is for \(self.host)")
    }
}
