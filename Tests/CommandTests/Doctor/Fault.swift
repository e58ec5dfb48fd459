import Foundation
import Glibc
import KiiPushCore
import TestSupport
import Testing

/// The faults, and the code that `doctor` reports for each.
enum Fault: String, CaseIterable {
    case emulatorStopped = "emulator stopped"
    case unknownHost = "unknown host name"
    case brokerDown = "broker down, REST up"
    case proxyGone = "proxy not there"
    case authorityNotTrusted = "authority not trusted"
    case certificateExpired = "certificate expired"
    case certificateOfAnother = "certificate for another name"
    case clockSkewed = "clock an hour behind"
    case wrongAppKey = "wrong app key"
    case tokenRevoked = "token revoked, no password"
    case installationDeleted = "installation deleted"
    case brokerRefuses = "broker refuses credentials"
    case subscriptionRefused = "SUBACK 0x80"
    case credentialsOpen = "credentials file 0644"
    case stateReadOnly = "state directory read-only"
    case inboxDamaged = "inbox damaged"
    case tooManyDeadLetters = "too many dead letters"
    case pushSwallowed = "push does not arrive"

    /// The code in the form of ``Report/firstFailure``.
    var code: String {
        switch self {
        case .emulatorStopped: "TCP cloud"
        case .unknownHost: "DNS cloud"
        case .brokerDown: "TCP broker"
        case .proxyGone: "PROXY cloud"
        case .authorityNotTrusted: "TLS-CHAIN cloud"
        case .certificateExpired: "TLS-EXPIRY cloud"
        case .certificateOfAnother: "TLS-NAME cloud"
        case .clockSkewed: "CLOCK"
        case .wrongAppKey: "APP"
        case .tokenRevoked: "SIGN-IN"
        case .installationDeleted: "INSTALLATION"
        case .brokerRefuses: "CONNACK"
        case .subscriptionRefused: "SUBACK"
        case .credentialsOpen: "FILE-MODES"
        case .stateReadOnly: "STATE-DIRECTORY"
        case .inboxDamaged, .tooManyDeadLetters: "INBOX"
        case .pushSwallowed: "ROUND-TRIP"
        }
    }

    var exit: Int32 {
        switch self {
        case .emulatorStopped, .unknownHost, .brokerDown, .proxyGone, .authorityNotTrusted, .certificateExpired,
            .certificateOfAnother:
            69
        case .clockSkewed, .installationDeleted, .credentialsOpen: 78
        case .wrongAppKey, .tokenRevoked, .brokerRefuses: 77
        case .subscriptionRefused, .pushSwallowed: 76
        case .stateReadOnly: 73
        case .inboxDamaged: 74
        case .tooManyDeadLetters: 75
        }
    }
}

struct Report {
    let checks: [JSONValue]
    let exit: Int32

    init(_ result: Tool.Result) throws {
        self.checks = try result.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        self.exit = result.exit
    }

    static func name(_ check: JSONValue) -> String {
        [check["code"]?.string, check["server"]?.string].compactMap { $0 }.joined(separator: " ")
    }

    /// Code and server of the first failed check.
    var firstFailure: String? { self.checks.first { $0["outcome"] == "failed" }.map(Self.name) }

    func check(_ name: String) -> JSONValue? { self.checks.first { Self.name($0) == name } }
}

/// A directory with an authority, and certificates for `localhost`. The authority's certificates include an expired
/// one.
final class TestCertificates {
    let path: String
    var authority: String { self.path + "/ca.pem" }

    init(in directory: String) throws {
        self.path = directory + "/certificates"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        let sign = "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy"
        let script = """
            openssl req -x509 \(key) -days 2 -keyout ca.key -out ca.pem -subj '/CN=Test authority' &&
            openssl req -new \(key) -keyout server.key -out server.csr -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost &&
            \(sign) -days 2 -out good.pem && \(sign) -days -1 -out expired.pem
            """
        let child = try ChildProgram(["sh", "-c", "cd '\(self.path)' && \(script)"])
        guard child.wait() == 0 else { throw TestFailure(child.errors.all()) }
    }

    /// A TLS server with one of the certificates, on a free port.
    func server(_ certificate: String) throws -> (program: ChildProgram, port: UInt16) {
        let words = "exec openssl s_server -accept 127.0.0.1:0 -cert \(certificate).pem -key server.key -www"
        let program = try ChildProgram(["sh", "-c", "cd '\(self.path)' && \(words)"])
        let accepting = /(?:^|\n)ACCEPT .*:([0-9]+)\n/
        let said = program.output.wait(600) { $0.firstMatch(of: accepting) != nil }
        let port = said.firstMatch(of: accepting).flatMap { UInt16($0.output.1) }
        return (program, try #require(port, "\(program.errors.wait(0) { _ in true })"))
    }

    /// A broker for `localhost` that accepts every client and answers every SUBSCRIBE with `grant`. It prints each
    /// client's keep-alive in seconds.
    func broker(granting grant: UInt8) throws -> (program: ChildProgram, port: UInt16) {
        let program = try ChildProgram(["python3", "-u", "-c", Self.brokerScript, self.path, String(grant)])
        let said = program.output.wait(600) { $0.contains("\n") }
        let port = UInt16(said.trimmingCharacters(in: .whitespacesAndNewlines))
        return (program, try #require(port, "\(program.errors.wait(0) { _ in true })"))
    }

    // The script answers CONNECT with CONNACK 0. Its SUBACK has SUBSCRIBE's packet identifier, which follows a fixed
    // header of two bytes.
    private static let brokerScript = """
        import socket, ssl, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1] + "/good.pem", sys.argv[1] + "/server.key")
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        print(listener.getsockname()[1])
        def serve(plain):
            try:
                with context.wrap_socket(plain, server_side=True) as client:
                    connect = client.recv(4096)
                    if not connect: return
                    print("keep-alive", int.from_bytes(connect[connect.index(b"MQTT") + 6:][:2], "big"))
                    client.sendall(bytes([0x20, 2, 0, 0]))
                    subscribe = client.recv(4096)
                    client.sendall(bytes([0x90, 3]) + subscribe[2:4] + bytes([int(sys.argv[2])]))
                    while client.recv(4096): pass
            except OSError: pass
        while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
}
