import Foundation
import TestTraits
import Testing

@Suite(.ownThreads) struct ProfileFileTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    private static let credentials = #"{"version":1,"profiles":{"default":{"appKey":"k"}}}"#

    @Test(arguments: [0o644, 0o640, 0o604, 0o620, 0o666])
    func refusesCredentialsThatAreOpenToOthers(mode: Int) throws {
        let path = try self.tool.write(Self.credentials, to: "config/kii-push/credentials.json", mode: mode)
        let result = try self.tool("config", "show")
        #expect(result.exit == 78)
        #expect(result.output == "")
        let octal = String(mode, radix: 8)
        #expect(
            result.error
                == "kii-push: \(path) holds credentials and is open to others (mode \(octal)); run: chmod 600 \(path)\n"
        )
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func refusesCredentialsOfAnotherUser() throws {
        let path = try self.tool.write(Self.credentials, to: "config/kii-push/credentials.json")
        try #require(chown(path, 65_534, 65_534) == 0)
        let result = try self.tool("config", "show")
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: \(path) belongs to user 65534; "))
    }

    @Test(arguments: [0o600, 0o400])
    func acceptsCredentialsThatAreClosed(mode: Int) throws {
        try self.tool.write(Self.credentials, to: "config/kii-push/credentials.json", mode: mode)
        let result = try self.tool("config", "show")
        #expect(result.exit == 0)
        #expect(result.output.contains("\nappKey        <set>\n"))
    }

    @Test(arguments: [
        (
            "{",
            ":1:2: the file is cut short\n          restore it, or write it anew: 'kii-push help files' shows its form\n"
        ),
        ("", ":1:1: the file is empty\n          restore it, or write it anew: 'kii-push help files' shows its form\n"),
        ("{}", ":1:1: it has no version\n          add \"version\": 1\n"),
        (
            #"{"version":2}"#,
            ":1:12: /version is 2; this program reads version 1\n          use a newer kii-push, or move the file away\n"
        ),
    ])
    func refusesAFileThatIsNotItsOwn(content: String, message: String) throws {
        let path = try self.tool.write(content, to: "config/kii-push/credentials.json")
        let result = try self.tool("config", "show")
        #expect(result.exit == 78)
        #expect(result.error == "kii-push: \(path)\(message)")
    }

    @Test(arguments: [
        (
            "config.json", #"{"version":1,"profile":{"default":{}}}"#,
            ":1:24: /profile is unknown; did you mean 'profiles'?\n          it may be $schema, version, profiles\n"
        ),
        (
            "credentials.json", #"{"version":1,"profile":{"default":{}}}"#,
            ":1:24: /profile is unknown; did you mean 'profiles'?\n          it may be version, profiles\n"
        ),
        (
            "credentials.json", #"{"version":1,"profiles":{"default":{"appkey":"k"}}}"#,
            ":1:46: /profiles/default/appkey is unknown; did you mean 'appKey'?\n"
                + "          it may be appKey, clientID, clientSecret, password\n"
        ),
        (
            "credentials.json", #"{"version":1,"profiles":{"default":{"appKey":""}}}"#,
            ":1:46: /profiles/default/appKey is empty\n"
        ),
        ("credentials.json", #"{"version":1,"profiles":[]}"#, ":1:25: /profiles must be an object\n"),
    ])
    func overlooksNothing(name: String, content: String, message: String) throws {
        let path = try self.tool.write(content, to: "config/kii-push/\(name)")
        let result = try self.tool("config", "show")
        #expect(result.exit == 78)
        #expect(result.error == "kii-push: \(path)\(message)")
    }

    @Test func refusesAProfileNameThatLeavesTheDirectory() throws {
        let result = try self.tool("config", "show", "--profile", "../x")
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: '../x' is no name for a profile\n"))
    }

    @Test func showsNoSecretInAnyMessage() throws {
        let canary = "canary-4711"
        let text = #"{"version":1,"profiles":{"default":{"appKey":["\#(canary)"]}}}"#
        let path = try self.tool.write(text, to: "config/kii-push/credentials.json")
        let result = try self.tool("config", "show", environment: ["KII_PUSH_PASSWORD": canary])
        #expect(result.exit == 78)
        #expect(result.error == "kii-push: \(path):1:46: /profiles/default/appKey must be a text\n")
    }
}
