import Foundation
import Glibc
import KiiPushCore
import TestTraits
import Testing

/// `run` for a profile that exists only in a configuration file, as at a service's first start.
@Suite(.ownThreads) struct ServiceProfileTests {
    private let session: EmulatorSession
    private let environment: [String: String]
    private let key: String

    init() throws {
        self.session = try EmulatorSession()
        self.key = try #require(try self.session.runtimeFile()["appKey"]?.string)
        let home = self.session.tool.home.path
        self.environment = [
            "KII_PUSH_CONFIG": home + "/service/config.json", "STATE_DIRECTORY": home + "/service/state",
            "CREDENTIALS_DIRECTORY": home + "/service",
        ]
        // This profile creates the topics and sends.
        try self.session.succeed("register")
    }

    private func configure(_ members: String = "", secrets: String) throws {
        let file = try self.session.runtimeFile()
        let cloud = """
            "baseURL": "\(try #require(file["baseURL"]?.string))", "appID": "\(try #require(file["appID"]?.string))",
            "caFile": "\(try #require(file["caFile"]?.string))"
            """
        for (name, text) in [
            ("config", "\(cloud), \"run\": {\"exec\": \"true\"}\(members)"), ("kii-push-credentials", secrets),
        ] {
            try self.session.tool.write(
                #"{"version": 1, "profiles": {"default": {\#(text)}}}"#, to: "service/\(name).json")
        }
    }

    private func start() throws -> RunningTool { try self.session.tool.start(["run"], environment: self.environment) }

    private func user() throws -> String? {
        try self.session.tool("config", "show", environment: self.environment).output
            .firstMatch(of: /\nuser +(\S+)/).map { String($0.1) }
    }

    @Test func registersOnceAsAUserOfItsOwn() throws {
        try self.configure(secrets: #""appKey": "\#(self.key)""#)
        var users: [String?] = []
        for count in [1, 0] {
            let run = try self.start()
            #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
            users.append(try self.user())
            run.signal(SIGTERM)
            let result = run.waitForExit()
            #expect(result.exit == 0)
            #expect(result.error.matches(of: /Registering, as a user of its own/).count == count)
        }
        #expect(users[0] != nil)
        #expect(users[0] == users[1])
    }

    @Test func endsSoThatNobodyTriesAgainWhereOnlyAPersonCanHelp() throws {
        try self.configure(secrets: "")
        let missing = try self.start().waitForExit()
        #expect(missing.exit == 78)
        #expect(missing.error.contains("the app's key of profile 'default' is missing"))
        // The advice does not name a file below a home directory: a service has none.
        #expect(missing.error.contains("LoadCredential= names (/etc/kii-push/credentials.json)"))
        // A password needs a user, whom the configuration does not name.
        try self.configure(secrets: #""appKey": "\#(self.key)", "password": "secret""#)
        let unknown = try self.start().waitForExit()
        #expect(unknown.exit == 78)
        #expect(unknown.error.contains("profile 'default' is not registered"))
        try self.configure(secrets: #""appKey": "\#(self.key)""#)
        let none = try self.session.tool("run", "--exec", "/nowhere/program", environment: self.environment)
        #expect(none.exit == 66)
        let profiles = self.environment["STATE_DIRECTORY", default: ""] + "/profiles"
        #expect(!FileManager.default.fileExists(atPath: profiles + "/default/profile.json"))
    }

    @Test func subscribesToWhatIsDeclared() throws {
        let state = ["STATE_DIRECTORY": self.session.tool.home.path + "/state/kii-push"]
        for topic in ["alerts", "later"] {
            #expect(try self.session.tool("subscribe", topic, environment: state).exit == 0)
        }
        try self.configure(
            #", "subscriptions": {"topics": ["alerts", "absent"], "buckets": ["user:me/notes"]}"#,
            secrets: #""appKey": "\#(self.key)""#)
        let run = try self.start()
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        // The tool reports a subscription that fails, and makes the others.
        #expect(run.error(containing: "not subscribed").contains("absent: "))
        try self.waitForSubscriptions("alerts\n", "/notes\n")
        try self.session.succeed("send", "topic", "alerts", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- newData        #1").contains("exec true  exit 0"))

        try self.configure(#", "subscriptions": {"topics": ["later"]}"#, secrets: #""appKey": "\#(self.key)""#)
        run.signal(SIGHUP)
        #expect(run.error(containing: "> Reloaded.").contains("> Reloaded."))
        try self.waitForSubscriptions("alerts\n", "/notes\n", "later\n")
        run.stop()
    }

    /// Polls until the cloud lists all of these, including subscriptions that are not declared any more.
    private func waitForSubscriptions(_ lines: String...) throws {
        while true {
            let result = try self.session.tool("subscriptions", environment: self.environment)
            try #require(result.exit == 0, "\(result.error)")
            if lines.allSatisfy({ result.output.contains($0) }) { return }
        }
    }
}
