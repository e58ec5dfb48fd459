import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

/// The tool refuses TLS before 1.2, even if the machine's OpenSSL configuration allows it.
@Suite(.ownThreads) struct OldTLSTests {
    private let tool: Tool
    private let environment: [String: String]

    init() throws {
        self.tool = try Tool()
        let path = try self.tool.write(
            """
            openssl_conf = main
            [main]
            ssl_conf = section
            [section]
            system_default = defaults
            [defaults]
            MinProtocol = TLSv1
            CipherString = DEFAULT@SECLEVEL=0
            """, to: "openssl.cnf")
        self.environment = ["OPENSSL_CONF": path, "KII_PUSH_APP_KEY": "k"]
    }

    /// An `openssl s_server` that speaks only this version of TLS, and its certificate.
    private func server(_ version: String) throws -> (server: ChildProgram, port: UInt16, certificate: String) {
        let line = """
            cd "$HOME" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout key.pem \
            -out certificate.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null &&
            exec openssl s_server -accept 127.0.0.1:0 -cert certificate.pem -key key.pem -\(version) \
            -cipher DEFAULT@SECLEVEL=0 -www
            """
        let server = try ChildProgram(
            ["sh", "-c", line], environment: self.tool.environment.merging(self.environment) { $1 })
        let accepting = /(?:^|\n)ACCEPT .*:([0-9]+)\n/
        let said = server.output.wait(600) { $0.firstMatch(of: accepting) != nil }
        let port = try #require(said.firstMatch(of: accepting).flatMap { UInt16($0.output.1) }, "\(said)")
        return (server, port, self.tool.home.path + "/certificate.pem")
    }

    /// Whether this machine's OpenSSL client can speak the version at all.
    private func handshakes(_ version: String, _ port: UInt16) throws -> Bool {
        let line = "openssl s_client -connect 127.0.0.1:\(port) -\(version) -cipher DEFAULT@SECLEVEL=0 </dev/null"
        let result = try RunningTool(
            ["sh", "-c", line], environment: self.tool.environment.merging(self.environment) { $1 }
        ).waitForExit()
        return result.exit == 0
    }

    @Test(arguments: ["tls1_1", "tls1"])
    func theCloudHasToSpeakANewerOne(version: String) throws {
        let (server, port, certificate) = try self.server(version)
        defer { server.signal(SIGKILL) }
        try #require(try self.handshakes(version, port), "OpenSSL here cannot speak it at all")
        let result = try self.tool(
            "register", "--base-url", "https://127.0.0.1:\(port)/api", "--app-id", "a", "--cacert", certificate,
            environment: self.environment)
        #expect(result.exit == 69, "\(result.error)")
        #expect(!result.error.contains("carried out"), "\(result.error)")
    }

    @Test func aNewerOneWillDo() throws {
        let (server, port, certificate) = try self.server("tls1_2")
        defer { server.signal(SIGKILL) }
        let result = try self.tool(
            "doctor", "--base-url", "https://127.0.0.1:\(port)/api", "--app-id", "a", "--cacert", certificate,
            environment: self.environment)
        #expect(result.output.contains("ok       TLS-NAME cloud"), "\(result.output)")
    }

    @Test func theBrokerHasToSpeakANewerOne() throws {
        let (server, port, certificate) = try self.server("tls1_1")
        defer { server.signal(SIGKILL) }
        let session = try EmulatorSession()
        try session.succeed("register")
        let file = session.tool.home.path + "/state/kii-push/profiles/default/agents/default.json"
        var text = try String(contentsOfFile: file, encoding: .utf8)
        let named = try #require(text.firstMatch(of: /"portSSL": *\d+/))
        text.replaceSubrange(named.range, with: #""portSSL": \#(port)"#)
        try session.tool.write(text, to: "state/kii-push/profiles/default/agents/default.json")
        let run = try session.tool.start(
            ["run", "--exec", "true", "--cacert", certificate, "-v"], environment: self.environment)
        let said = run.error(containing: "offline")
        #expect(said.contains("check that the port speaks TLS"), "\(said)")
        run.signal(SIGTERM)
        _ = run.waitForExit()
    }
}
