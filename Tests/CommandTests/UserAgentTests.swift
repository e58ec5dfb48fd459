import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct UserAgentTests {
    static var standard: Regex<Substring> { /kii-push\/[0-9.]+ KiiPushCore\/[0-9.]+ libcurl\/[0-9.]+/ }

    private static let environment = ["KII_PUSH_APP_KEY": "k"]

    private func cloud(_ tool: Tool, _ options: [String] = []) throws -> HookServer.Request {
        let server = try HookServer { _ in "404 -" }
        let words = ["register", "--base-url", "http://127.0.0.1:\(server.port)/api", "--app-id", "a"]
        #expect(try tool.start(words + options, environment: Self.environment).waitForExit().exit != 0)
        return try #require(server.requests.first)
    }

    @Test func theCloudIsToldTheProgramAndItsVersion() throws {
        let said = try self.cloud(Tool()).field("User-Agent")
        #expect(said?.wholeMatch(of: Self.standard) != nil, "\(said ?? "nothing")")
    }

    @Test func itIsWhatTheConfigurationSaysAndTheOptionBeforeThat() throws {
        let tool = try Tool()
        try tool.write(
            #"{"version":1,"profiles":{"default":{"userAgent":"Meter/1.2"}}}"#, to: "config/kii-push/config.json")
        #expect(try self.cloud(tool).field("User-Agent") == "Meter/1.2")
        #expect(try self.cloud(tool, ["--user-agent", "Gauge/2 (x)"]).field("User-Agent") == "Gauge/2 (x)")
        let wrong = try tool(
            "register", "--base-url", "http://127.0.0.1:1/api", "--app-id", "a", "--user-agent", "a\r\nb",
            environment: Self.environment)
        #expect(wrong.exit == 78)
        #expect(wrong.error.contains("the user agent holds something other than printable ASCII"), "\(wrong.error)")
    }

    @Test func aServerThatIsForwardedToIsToldTheSame() throws {
        let server = try HookServer { _ in "200 OK" }
        let session = try EmulatorSession()
        try session.succeed("register")
        let run = try session.ready(["run", "--forward-to", "\(server.port)", "--user-agent", "Meter/1.2"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- newData").contains("<-- newData"))
        #expect(server.requests.map { $0.field("User-Agent") } == ["Meter/1.2"])
        run.stop()
    }
}
