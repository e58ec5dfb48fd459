import Foundation
import KiiPushCore
import TestTraits
import Testing

/// The cloud that a command chooses, and the source of its secrets. Nobody listens at the address.
@Suite(.ownThreads) struct CloudChoiceTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    private static let configuration = """
        {"version":1,"profiles":{"default":{"baseURL":"http://127.0.0.1:1/config","appID":"config"},\
        "site":{"site":"mars","appID":"a"},"both":{"site":"jp","baseURL":"http://127.0.0.1:1"},\
        "typo":{"sit":"jp","appID":"a"},"odd":{"frobnicate":1},"text":"jp","empty":{},"proxy":{"proxy":"http://p"},\
        "half":{"site":"jp"}}}
        """

    @Test(arguments: [
        ([], [:], "app config at http://127.0.0.1:1/config, named by the configuration"),
        (
            [], ["KII_PUSH_APP_ID": "environment"],
            "app environment at http://127.0.0.1:1/config, named by the options or environment"
        ),
        (
            ["--app-id", "option", "--base-url", "http://127.0.0.1:1/o"], ["KII_PUSH_APP_ID": "environment"],
            "app option at http://127.0.0.1:1/o, named by the options or environment"
        ),
    ])
    func optionsComeBeforeEnvironmentBeforeFile(
        options: [String],
        environment: [String: String],
        words: String
    ) throws {
        try self.tool.write(Self.configuration, to: "config/kii-push/config.json", mode: 0o644)
        let run = try self.tool.start(
            ["send", "user", "u", "--data", "{}", "-v"] + options,
            environment: environment.merging([
                "KII_PUSH_APP_KEY": "k", "KII_PUSH_CLIENT_ID": "c", "KII_PUSH_CLIENT_SECRET": "s",
            ]) { $1 }
        )
        let result = run.waitForExit()
        #expect(result.exit == 69)
        #expect(result.error.hasPrefix(words + "\n"))
    }

    private static let noCloud =
        "names no cloud: \"appID\" and \"site\" or \"baseURL\" are missing\n"
        + "          add them, or remove the profile from the file to use the emulator\n"

    private static let members =
        "          it may be site, baseURL, appID, caFile, clientCertificateFile, clientKeyFile, proxy, userAgent, "
        + "allowPlainHTTP, transport, subscriptions, run\n"

    @Test(arguments: [
        ("site", ":1:108: /profiles/site/site is 'mars': expected one of us, jp, sg, eu, cn3\n"),
        ("both", ":1:135: /profiles/both has both site and baseURL\n          remove one of them\n"),
        ("typo", ":1:194: /profiles/typo/sit is unknown; did you mean 'site'?\n\(members)"),
        ("odd", ":1:232: /profiles/odd/frobnicate is unknown\n\(members)"),
        ("text", ":1:242: /profiles/text must be an object\n"),
        ("empty", ": profile 'empty' \(Self.noCloud)"),
        ("proxy", ": profile 'proxy' \(Self.noCloud)"),
    ])
    func refusesAConfigurationThatIsWrong(profile: String, words: String) throws {
        let path = try self.tool.write(Self.configuration, to: "config/kii-push/config.json", mode: 0o644)
        let result = try self.tool("register", "-p", profile)
        #expect(result.exit == 78)
        #expect(result.error == "kii-push: \(path)\(words)")
    }

    @Test func missesTheAppOfAProfileThatNamesASite() throws {
        let path = try self.tool.write(Self.configuration, to: "config/kii-push/config.json", mode: 0o644)
        let result = try self.tool("register", "-p", "half")
        #expect(result.exit == 78)
        #expect(
            result.error == """
                kii-push: the app's ID of profile 'half' is missing
                          give --app-id, or "appID" in \(path)

                """
        )
    }

    @Test func servesNoConfiguredProfileWithTheEmulator() throws {
        try self.tool.write(Self.configuration, to: "config/kii-push/config.json", mode: 0o644)
        try self.tool.write(try Self.runtimeFile(of: getpid()), to: "run/kii-push/emulator.json")
        // Nobody listens at the runtime file's address. Only a profile that the file does not name gets as far as
        // connecting.
        #expect(try self.tool("register", "-p", "absent").exit == 69)
        #expect(try self.tool("register", "-p", "empty").exit == 78)
    }

    @Test func missesTheFileThatItWasTold() throws {
        let path = self.tool.home.path + "/absent.json"
        let result = try self.tool("register", "--config", path)
        #expect(result.exit == 78)
        #expect(result.error == "kii-push: there is no configuration file \(path)\n")
    }

    @Test func takesSecretsFromTheServiceManager() throws {
        try self.tool.write(Self.configuration, to: "config/kii-push/config.json")
        let secrets = #"{"version":1,"profiles":{"default":{"appKey":"k"}}}"#
        // Access control lists protect systemd's files, whatever their mode.
        try self.tool.write(secrets, to: "credentials/kii-push-credentials.json", mode: 0o440)
        let environment = ["CREDENTIALS_DIRECTORY": self.tool.home.path + "/credentials"]
        #expect(try self.tool("register").exit == 78)
        #expect(try self.tool("register", environment: environment).exit == 69)
    }

    /// The runtime file of an emulator with this process ID, started when this process was.
    private static func runtimeFile(of processID: Int32) throws -> String {
        let own = try #require(ProcessIdentity(of: getpid()))
        return """
            {"version":1,"baseURL":"http://127.0.0.1:1/api","appID":"a","appKey":"k","clientID":"c","clientSecret":"s",\
            "mqttPort":1,"mqttTLSPort":1,"pid":\(processID),"startTime":\(own.startTime),"bootID":"\(own.boot)"}
            """
    }

    @Test func doesNotTrustARuntimeFileThatIsOpenToOthers() throws {
        let text = try Self.runtimeFile(of: getpid())
        let path = try self.tool.write(text, to: "run/kii-push/emulator.json", mode: 0o644)
        let result = try self.tool("register")
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: \(path) holds credentials and is open to others (mode 644); "))
    }

    @Test func takesARuntimeFileWithoutItsProcessForNone() throws {
        let ended = try RunningTool(["/bin/sh", "-c", "echo $$"], environment: [:]).waitForExit().output
        let text = try Self.runtimeFile(of: #require(Int32(ended.dropLast())))
        try self.tool.write(text, to: "run/kii-push/emulator.json")
        let result = try self.tool("register")
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: no cloud is configured, and no emulator is running\n"))
    }
}
