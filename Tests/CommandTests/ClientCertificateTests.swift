import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

/// Servers that accept only clients with a certificate that they trust.
@Suite(.ownThreads) struct ClientCertificateTests {
    private let tool: Tool
    private let environment = ["KII_PUSH_APP_KEY": "k"]

    private var authority: String { self.tool.home.path + "/ca.pem" }
    private var identity: [String] {
        ["--client-cert", self.tool.home.path + "/client.pem", "--client-key", self.tool.home.path + "/client.key"]
    }

    init() throws {
        self.tool = try Tool()
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        let sign = "openssl x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy"
        let line = """
            cd "$HOME" && openssl req -x509 \(key) -keyout ca.key -out ca.pem -subj '/CN=Test authority' &&
            openssl req -new \(key) -keyout server.key -out server.csr -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost,IP:127.0.0.1 && \(sign) -in server.csr -out server.pem &&
            openssl req -new \(key) -keyout client.key -out client.csr -subj /CN=client &&
            \(sign) -in client.csr -out client.pem && chmod 600 client.key
            """
        let made = try RunningTool(["sh", "-c", line], environment: self.tool.environment).waitForExit()
        try #require(made.exit == 0, "\(made.error)")
    }

    @Test func theCloudGetsTheCertificateOfTheConfiguration() throws {
        let line = """
            cd "$HOME" && exec openssl s_server -accept 127.0.0.1:0 -cert server.pem -key server.key -rev -Verify 1 \
            -verify_return_error -CAfile ca.pem -tls1_2
            """
        let server = try ChildProgram(["sh", "-c", line], environment: self.tool.environment)
        defer { server.signal(SIGKILL) }
        let accepting = /(?:^|\n)ACCEPT .*:([0-9]+)\n/
        let said = server.output.wait(600) { $0.firstMatch(of: accepting) != nil }
        let port = try #require(said.firstMatch(of: accepting).flatMap { UInt16($0.output.1) }, "\(said)")
        func check(_ members: String) throws -> String {
            let cloud = #""baseURL":"https://localhost:\#(port)/api","appID":"a","caFile":"\#(self.authority)""#
            let text = #"{"version":1,"profiles":{"default":{\#(cloud)\#(members)}}}"#
            try self.tool.write(text, to: "config/kii-push/config.json")
            return try self.tool("doctor", "--timeout", "600s", environment: self.environment).output
        }
        let home = self.tool.home.path
        let known = try check(#","clientCertificateFile":"\#(home)/client.pem","clientKeyFile":"\#(home)/client.key""#)
        #expect(known.contains("ok       TLS-CHAIN cloud"), "\(known)")
        let unknown = try check("")
        #expect(unknown.contains("client certificate"), "\(unknown)")
        #expect(unknown.contains("clientCertificateFile"), "\(unknown)")
    }

    @Test func theBrokerGetsTheCertificateOfTheOptions() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let state = "state/kii-push/profiles/default/agents/default.json"
        var text = try String(contentsOfFile: session.tool.home.path + "/" + state, encoding: .utf8)
        let (broker, port) = try self.broker()
        defer { broker.signal(SIGKILL) }
        let named = try #require(text.firstMatch(of: /"portSSL": *\d+/))
        text.replaceSubrange(named.range, with: #""portSSL": \#(port)"#)
        try session.tool.write(text, to: state)
        let words = ["run", "--exec", "true", "--cacert", self.authority]
        let run = try session.tool.start(words + self.identity)
        // The broker refuses clients with another certificate.
        let said = run.error(containing: "> Ready. ")
        #expect(said.contains("> Ready. "), "\(said)")
        run.stop()
        // The broker also refuses a client without a certificate. It may close the connection before `listen` reads its
        // answer.
        let unknown = try session.tool.start(words)
        let refusal = broker.errors.wait(600) { $0.contains("did not return a certificate") }
        #expect(refusal.contains("did not return a certificate"), "\(refusal)")
        #expect(unknown.error(containing: "offline").contains("offline"))
        unknown.signal(SIGTERM)
        _ = unknown.waitForExit()
    }

    @Test func aKeyThatOthersCanReadIsRefused() throws {
        let key = self.tool.home.path + "/client.key"
        try #require(chmod(key, 0o644) == 0)
        let result = try self.tool.start(
            ["register", "--base-url", "https://127.0.0.1:1/api", "--app-id", "a"] + self.identity,
            environment: self.environment
        ).waitForExit()
        #expect(result.exit == 78)
        #expect(result.error.contains("\(key) holds credentials and is open to others (mode 644)"), "\(result.error)")
        #expect(result.error.contains("chmod 600 \(key)"))
    }

    private func broker() throws -> (broker: ChildProgram, port: UInt16) {
        let home = self.tool.home.path
        while true {
            let (descriptor, port) = try Loopback.bound()
            close(descriptor)
            let configuration = try self.tool.write(
                """
                listener \(port) 127.0.0.1
                allow_anonymous true
                cafile \(self.authority)
                certfile \(home)/server.pem
                keyfile \(home)/server.key
                require_certificate true
                """ + (geteuid() == 0 ? "\nuser root\n" : "\n"), to: "mosquitto.conf")
            let broker = try ChildProgram(["mosquitto", "-c", configuration], environment: self.tool.environment)
            let said = broker.errors.wait(600) { $0.contains(" running") }
            if said.contains(" running") { return (broker, port) }
            // Another process may have taken the port meanwhile.
            try #require(said.contains("Address already in use"), "\(said)")
        }
    }
}
