import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct UnreadableStateTests {
    private static let directory = "state/kii-push/profiles/default"

    @Test func anAnswerThatIsTooLongDisablesNothing() throws {
        let isTooLong = Locked(true)
        let cloud = try FakeCloud { request in
            if request.path.hasSuffix("/users") {
                return .init(status: 201, body: #"{"userID":"u","_accessToken":"t"}"#)
            }
            guard request.path.hasSuffix("/installations") else { return .init(status: 404) }
            let id = isTooLong.withLock { $0 } ? String(repeating: "i", count: 1_100_000) : "short"
            return .init(status: 201, body: #"{"installationID":"\#(id)"}"#)
        }
        let tool = try Tool()
        func register(_ options: String...) throws -> Tool.Result {
            try tool.start(
                ["register", "--app-id", "a", "--base-url", cloud.baseURL] + options,
                environment: ["KII_PUSH_APP_KEY": "k"]
            ).waitForExit()
        }
        let first = try register()
        #expect(first.exit == 76)
        #expect(first.error.contains(#""/installationID" is longer than 8192 bytes"#))
        isTooLong.withLock { $0 = false }
        // The next request is for the MQTT endpoint, which this cloud does not have.
        for options in [[], ["--anew"]] {
            let again = try options.isEmpty ? register() : register("--anew")
            #expect(again.error.contains("/installations/short/mqtt-endpoint"))
            #expect(again.exit != 78)
        }
    }

    @Test(arguments: [
        ("agents/default.json", "{\"version\":1,"), ("agents/default.json", String(repeating: " ", count: 1_100_000)),
        ("agents/default.json", #"{"version":99}"#), ("profile.json", "{\"version\":1,"), ("profile.json", "{}"),
        ("profile.json", #"{"version":1,"cloud":{}}"#), ("profile.json", String(repeating: " ", count: 1_100_000)),
        ("credentials.json", "{"),
    ])
    func toBeginAnewReplacesAFileThatCannotBeRead(name: String, content: String) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.tool.write(content, to: "\(Self.directory)/\(name)")
        let stopped = try session.tool("register")
        #expect(stopped.exit == 78)
        #expect(stopped.error.contains("\(Self.directory)/\(name)"))
        try session.succeed("register", "--anew")
        try session.succeed("register")
    }

    @Test(arguments: ["{\"version\":1,", "{}x", #"{"version":1,"cloud":{}}"#])
    func aProfileThatCannotBeReadIsToBeRemoved(content: String) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let user = try session.whoami("user")
        let path = try session.tool.write(content, to: "\(Self.directory)/profile.json")
        let result = try session.tool("listen")
        #expect(result.exit == 78)
        #expect(result.error.hasSuffix("\n          remove it and run 'kii-push register'\n"))
        try FileManager.default.removeItem(atPath: path)
        try session.succeed("register")
        #expect(try session.whoami("user") == user)
    }

    /// A file that other users could write is not treated as damaged.
    @Test func toBeginAnewReplacesNoFileThatIsOpenToOthers() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.tool.write("{", to: "\(Self.directory)/agents/default.json", mode: 0o666)
        let result = try session.tool("register", "--anew")
        #expect(result.exit == 78)
        #expect(result.error.contains("chmod 600"))
    }
}
