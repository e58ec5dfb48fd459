import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct KeepAliveTests {
    private func keepAlive(
        _ words: [String], configured: String? = nil, _ session: EmulatorSession, _ certificates: TestCertificates
    ) throws -> String? {
        let (broker, port) = try certificates.broker(granting: 1)
        let state = session.tool.home.path + "/state/kii-push/profiles/default/agents/default.json"
        let members = try JSONValue(parsing: [UInt8](Data(contentsOf: URL(filePath: state)))).members ?? []
        let endpoint = members.first { $0.key == "endpoint" }?.value.members ?? []
        let moved = endpoint.filter { !["host", "portSSL"].contains($0.key) }.map { ($0.key, $0.value) }
        let there = JSONValue.object(moved + [("host", "localhost"), ("portSSL", JSONValue(Int(port)))])
        let others = members.filter { $0.key != "endpoint" }.map { ($0.key, $0.value) }
        try PrivateFile.replace(state, with: JSONValue.object(others + [("endpoint", there)]).serialized())
        if let configured {
            try session.tool.write(
                #"{"version": 1, "profiles": {"default": {"run": \#(configured)}}}"#, to: "config/kii-push/config.json")
        }
        let run = try session.tool.start(["run", "--cacert", certificates.authority] + words)
        defer { run.stop() }
        let said = broker.output.wait(600) { $0.contains("keep-alive") && $0.hasSuffix("\n") }
        return said.split(separator: "\n").first { $0.hasPrefix("keep-alive") }.map { String($0) }
    }

    @Test func theBrokerIsToldWhatTheOptionOrTheFileSays() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let certificates = try TestCertificates(in: session.tool.home.path)
        // The default is below 60 s, after which load balancers close an idle connection.
        #expect(try self.keepAlive(["--exec", "true"], session, certificates) == "keep-alive 45")
        #expect(
            try self.keepAlive(["--exec", "true", "--keep-alive", "7s"], session, certificates) == "keep-alive 7")
        #expect(
            try self.keepAlive(
                [], configured: #"{"exec": "true", "keepAlive": "20m"}"#, session, certificates) == "keep-alive 1200")
    }
}
