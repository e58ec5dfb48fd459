import Foundation
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct TokenOriginTests {
    /// A profile that is registered as with a remote cloud.
    private struct Registered {
        let session: EmulatorSession
        let appID: String

        init() throws {
            self.session = try EmulatorSession()
            let file = try self.session.runtimeFile()
            self.appID = try #require(file["appID"]?.string)
            let key = try #require(file["appKey"]?.string)
            let path = try self.session.tool.write(key + "\n", to: "key")
            try self.session.succeed(
                "register", "--base-url", try #require(file["baseURL"]?.string), "--app-id", self.appID,
                "--app-key-file", path, "--cacert", try #require(file["caFile"]?.string))
        }
    }

    @Test(arguments: [
        ["subscriptions"], ["subscribe", "news"], ["listen", "-n1", "-t", "5s"],
        ["run", "--exec", "true"], ["register"], ["register", "--anew"],
    ])
    func anotherServerGetsNothingThatIsForTheFirst(words: [String]) throws {
        let registered = try Registered()
        let other = try HookServer { _ in "401 Unauthorized" }
        let result = try registered.session.tool.start(
            words + ["--base-url", "http://127.0.0.1:\(other.port)/api", "--app-id", registered.appID]
        ).waitForExit()
        #expect(result.exit == 78, "\(result.error)")
        #expect(other.requests.isEmpty, "\(other.requests.map(\.head))")
    }

    /// Without profile.json, the kept key's server is unknown.
    @Test func aKeptKeyGoesNowhereOnceItIsNotKnownWhoseItIs() throws {
        let registered = try Registered()
        let profile = registered.session.tool.home.path + "/state/kii-push/profiles/default/profile.json"
        try FileManager.default.removeItem(atPath: profile)
        let other = try HookServer { _ in "401 Unauthorized" }
        let result = try registered.session.tool.start([
            "register", "--anew", "--base-url", "http://127.0.0.1:\(other.port)/api", "--app-id", registered.appID,
        ]).waitForExit()
        #expect(result.exit == 78, "\(result.error)")
        #expect(other.requests.isEmpty, "\(other.requests.map(\.head))")
    }

    @Test func theSameServerUnderAnotherPathIsTheSame() throws {
        let registered = try Registered()
        let base = try #require(try registered.session.runtimeFile()["baseURL"]?.string)
        try registered.session.succeed("subscriptions", "--base-url", base.uppercased().lowercased() + "/")
    }

    @Test func aRedirectIsNotFollowed() throws {
        let other = try HookServer { _ in "200 OK" }
        let first = try HookServer { _ in
            "307 Temporary Redirect\nLocation: http://127.0.0.1:\(other.port)/api/oauth2/token"
        }
        let tool = try Tool()
        let result = try tool(
            "register", "--base-url", "http://127.0.0.1:\(first.port)/api", "--app-id", "a",
            environment: ["KII_PUSH_APP_KEY": "k"])
        #expect(result.exit == 76)
        #expect(result.error.contains("the cloud has moved, or something on the way answers"), "\(result.error)")
        #expect(!first.requests.isEmpty && other.requests.isEmpty)
    }

    // MARK: - Plain HTTP

    private static let key = ["KII_PUSH_APP_KEY": "k"]
    private static let refusal = "the cloud's address is http: everyone on the way would read the app's key and tokens"

    @Test(arguments: [
        "http://cloud.invalid/api", "HTTP://cloud.invalid/api", "http://127.0.0.1.cloud.invalid/api",
        "http://localhost.cloud.invalid/api", "http://192.0.2.1/api", "http://[2001:db8::1]/api",
    ])
    func plainHTTPToAnotherMachineIsRefused(url: String) throws {
        let tool = try Tool()
        let result = try tool("register", "--base-url", url, "--app-id", "a", environment: Self.key)
        #expect(result.exit == 64)
        #expect(result.error.hasPrefix("kii-push: \(Self.refusal)\n"), "\(result.error)")
    }

    @Test(arguments: [
        "http://127.0.0.1:1/api", "http://localhost:1/api", "http://127.9.9.9:1/api", "http://[::1]:1/api",
    ])
    func plainHTTPOnThisMachineIsNot(url: String) throws {
        let result = try Tool()("register", "--base-url", url, "--app-id", "a", environment: Self.key)
        #expect(result.exit == 69, "\(result.error)")
    }

    @Test func plainHTTPIsUsedWhereItIsAskedForByName() throws {
        let tool = try Tool()
        let url = "http://cloud.invalid/api"
        let asked = try tool(
            "register", "--base-url", url, "--app-id", "a", "--allow-plain-http", environment: Self.key)
        #expect(asked.exit == 69, "\(asked.error)")
        func configure(_ member: String) throws {
            let text = #"{"version":1,"profiles":{"default":{"baseURL":"\#(url)","appID":"a"\#(member)}}}"#
            try tool.write(text, to: "config/kii-push/config.json")
        }
        try configure("")
        #expect(try tool("register", environment: Self.key).exit == 78)
        try configure(#","allowPlainHTTP":true"#)
        #expect(try tool("register", environment: Self.key).exit == 69)
        #expect(try tool("config", "show").output.contains("allowPlainHTTP  true\n"))
        try configure(#","allowPlainHTTP":"yes""#)
        #expect(try tool("register", environment: Self.key).error.contains("/allowPlainHTTP must be true or false"))
    }

    @Test func theRegistrationKeepsTheAuthorities() throws {
        let session = try EmulatorSession()
        let file = try session.runtimeFile()
        let key = try session.tool.write(try #require(file["appKey"]?.string), to: "key")
        let authorities = try #require(file["caFile"]?.string)
        let cloud = [
            "--base-url", try #require(file["httpsBaseURL"]?.string), "--app-id",
            try #require(file["appID"]?.string), "--app-key-file", key,
        ]
        let folder = URL(filePath: authorities).deletingLastPathComponent().path
        let line = "cd \"$0\" && exec \"$@\" --cacert \(URL(filePath: authorities).lastPathComponent)"
        let words = ["sh", "-c", line, folder, try Tool.executable.path, "register"] + cloud
        let registered = try RunningTool(words, environment: session.tool.environment).waitForExit()
        #expect(registered.exit == 0, "\(registered.error)")
        let shown = try session.tool("subscriptions")
        #expect(shown.exit == 0, "\(shown.error)")
        #expect(try session.whoami("caFile") == "\(authorities)")
        // The authorities hold only for the server of the registration.
        let elsewhere = try session.tool("config", "show", "--base-url", "https://cloud.invalid/api")
        #expect(!elsewhere.output.contains(authorities))
    }

    /// A permission for 'register' also holds for later commands, for the same address only.
    @Test func theRegistrationKeepsThePermission() throws {
        let registered = try Registered()
        let tool = registered.session.tool
        let path = tool.home.path + "/state/kii-push/profiles/default/profile.json"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let base = try #require(try registered.session.runtimeFile()["baseURL"]?.string)
        func register(at url: String, allows: Bool) throws {
            let cloud = #""baseURL": "\#(url)""# + (allows ? #", "allowPlainHTTP": true"# : "")
            let written = text.replacingOccurrences(of: #""baseURL": "\#(base)""#, with: cloud)
            try #require(written != text)
            try tool.write(written, to: "state/kii-push/profiles/default/profile.json")
        }
        try register(at: "http://cloud.invalid/api", allows: false)
        #expect(try tool("subscriptions").error.hasPrefix("kii-push: \(Self.refusal)\n"))
        try register(at: "http://cloud.invalid/api", allows: true)
        // The agent's own state still belongs to the emulator.
        let result = try tool("subscriptions")
        #expect(result.exit == 78)
        #expect(result.error.contains("belongs to another app, cloud or account"), "\(result.error)")
        #expect(
            try tool("subscriptions", "--base-url", "http://other.invalid/api").error.hasPrefix(
                "kii-push: \(Self.refusal)"))
    }

    // MARK: - Secrets that no output repeats

    @Test(arguments: [
        ["subscriptions", "-v", "--base-url", "https://u:hunter2@127.0.0.1:1/api", "--app-id", "a"],
        ["doctor", "--base-url", "https://u:hunter2@127.0.0.1:1/api", "--app-id", "a"],
        ["config", "show", "--base-url", "https://u:hunter2@127.0.0.1:1/api", "--app-id", "a"],
        ["run", "--forward-to", "http://u:hunter2@127.0.0.1:1/x"], ["run", "--forward-to=http://u:hunter2@h"],
        ["subscribe", "http://u:hunter2@h"], ["subscribe", "Basic dTpodW50ZXIy"],
    ])
    func credentialsInWordsAreNotRepeated(words: [String]) throws {
        let result = try Tool().start(words, environment: Self.key).waitForExit()
        #expect(!(result.output + result.error).contains("hunter2"), "\(result.output)\(result.error)")
        #expect(!result.error.contains("dTpodW50ZXIy"), "\(result.error)")
    }
}
