import Foundation
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads, .enabled(if: TwoAddresses.arePossible)) struct DeadAddressTests {
    @Test func theCloudIsReachedAtItsNextAddress() throws {
        let tool = try Tool()
        let cloud = try HookServer { _ in "404 -" }
        let addresses = try TwoAddresses(to: cloud.port, tool)
        let place = "\(TwoAddresses.name):\(cloud.port)"
        let result = try addresses.start(
            tool,
            [
                "register", "--base-url", "http://\(place)/api", "--allow-plain-http", "--app-id", "a",
                "--app-key-file", try tool.write("key", to: "key"),
            ]
        ).waitForExit()
        #expect(cloud.requests.first?.field("Host") == place, "\(result.error)")
    }

    @Test func theBrokerIsReachedAtItsNextAddress() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let state = "state/kii-push/profiles/default/agents/default.json"
        var text = try String(contentsOfFile: session.tool.home.path + "/" + state, encoding: .utf8)
        let port = try #require(text.firstMatch(of: /"portSSL": *(\d+)/).flatMap { UInt16($0.output.1) })
        let host = try #require(text.firstMatch(of: /"host": *"[^"]*"/))
        text.replaceSubrange(host.range, with: #""host": "\#(TwoAddresses.name)""#)
        try session.tool.write(text, to: state)
        let addresses = try TwoAddresses(to: port, session.tool)
        // The certificate names another host.
        let run = try addresses.start(session.tool, ["run", "--exec", "true", "--insecure"])
        let said = run.error(containing: "> Ready. ")
        #expect(said.contains("> Ready. "))
        #expect(!said.contains("offline"), "\(said)")
        run.stop()
    }

    @Test func theServerThatIsForwardedToIsReachedAtItsNextAddress() throws {
        let server = try HookServer { _ in "200 OK" }
        let session = try EmulatorSession()
        try session.succeed("register")
        let addresses = try TwoAddresses(to: server.port, session.tool)
        let url = "http://\(TwoAddresses.name):\(server.port)/"
        let run = try addresses.start(session.tool, ["run", "--forward-to", url])
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let line = run.output(containing: "<-- ")
        #expect(line.contains("<-- newData        #1"), "\(line)")
        run.stop()
    }
}
