import Foundation
import KiiPushCore
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct ConfigTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    private static func file(_ members: String) -> String {
        "{\n  \"version\": 1,\n  \"profiles\": {\n    \"default\": {\(members)}\n  }\n}\n"
    }

    private func setting(
        _ name: String, _ options: [String] = [], _ environment: [String: String] = [:]
    ) throws -> (value: String?, origin: JSONValue?) {
        let words = ["config", "show", "--json", "--origin"] + options
        let result = try self.tool.start(words, environment: environment).waitForExit()
        try #require(result.exit == 0, "\(result.error)")
        let lines = try result.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let line = try #require(lines.first { $0["name"]?.string == name })
        return (line["value"]?.string, line["origin"])
    }

    @Test func eachSourceWinsOverThoseBelowIt() throws {
        let system = try self.tool.write(Self.file(#""appID": "system""#), to: "etc/kii-push/config.json", mode: 0o644)
        let directories = ["XDG_CONFIG_DIRS": "relative:\(self.tool.home.path)/none:\(self.tool.home.path)/etc"]
        let ofSystem = try self.setting("appID", [], directories)
        #expect(ofSystem.value == "system")
        #expect(ofSystem.origin?["place"]?.string == "\(system):4:26")
        #expect(ofSystem.origin?["pointer"] == "/profiles/default/appID")
        let user = try self.tool.write(Self.file(#""appID": "user""#), to: "config/kii-push/config.json", mode: 0o644)
        let ofUser = try self.setting("appID", [], directories)
        #expect(ofUser.value == "user" && ofUser.origin?["path"]?.string == user)
        let environment = directories.merging(["KII_PUSH_APP_ID": "environment"]) { $1 }
        let ofEnvironment = try self.setting("appID", [], environment)
        #expect(ofEnvironment.value == "environment")
        #expect(ofEnvironment.origin == ["kind": "environment", "name": "KII_PUSH_APP_ID"])
        let ofOption = try self.setting("appID", ["--app-id", "option"], environment)
        #expect(ofOption.value == "option" && ofOption.origin == ["kind": "option", "name": "--app-id"])
    }

    @Test func aMemberIsTakenFromTheFirstFileThatHasIt() throws {
        let directories = ["XDG_CONFIG_DIRS": self.tool.home.path + "/etc"]
        let system = Self.file(#""site": "jp", "appID": "system", "proxy": "http://u:secret@proxy:3128""#)
        try self.tool.write(system, to: "etc/kii-push/config.json", mode: 0o644)
        try self.tool.write(Self.file(#""appID": "user""#), to: "config/kii-push/config.json", mode: 0o644)
        #expect(try self.setting("appID", [], directories).value == "user")
        #expect(try self.setting("baseURL", [], directories).value == "https://api-jp.kii.com/api")
        #expect(try self.setting("baseURL", [], directories).origin?["pointer"] == "/profiles/default/site")
        #expect(try self.setting("proxy", [], directories).value == "http://<set>@proxy:3128")
    }

    @Test func whatRunIsToDoIsShownMemberByMember() throws {
        let run = #""run": {"exec": "on-push 'a b'", "jobs": 4, "shell": true, "arguments": ["x", "y z"]}"#
        try self.tool.write(Self.file(run), to: "config/kii-push/config.json", mode: 0o644)
        let values: [(String, String)] = [
            ("exec", "on-push 'a b'"), ("jobs", "4"), ("shell", "true"), ("arguments", #"["x","y z"]"#),
        ]
        for (member, value) in values {
            let setting = try self.setting("run.\(member)")
            #expect(setting.value == value)
            #expect(setting.origin?["pointer"]?.string == "/profiles/default/run/\(member)")
        }
        #expect(try self.tool("config", "show").output.contains("\nrun.arguments [\"x\",\"y z\"]\n"))
    }

    @Test func secretsAreSaidToBeSetAndNoMore() throws {
        let canary = "canary-4711"
        let secrets = #"{"version":1,"profiles":{"default":{"appKey":"\#(canary)"}}}"#
        let path = try self.tool.write(secrets, to: "config/kii-push/credentials.json")
        let result = try self.tool("config", "show", "--origin", environment: ["KII_PUSH_PASSWORD": canary])
        #expect(result.exit == 0)
        #expect(result.output.contains("\nappKey        <set>  (\(path):1:46 /profiles/default/appKey)\n"))
        #expect(result.output.contains("\npassword      <set>  (environment KII_PUSH_PASSWORD)\n"))
        #expect(result.output.contains("\nadmin         -\n"))
        #expect(!(result.output + result.error).contains(canary))
        let json = try self.tool("config", "show", "--json", environment: ["KII_PUSH_PASSWORD": canary])
        #expect(!json.output.contains(canary) && json.output.contains(#""name":"password","secret":true,"set":true"#))
    }

    @Test func anEmulatorAndARegistrationAreSourcesToo() throws {
        let session = try EmulatorSession()
        let before = try session.succeed("config", "show", "--origin")
        let path = session.tool.home.path + "/run/kii-push/emulator.json"
        #expect(before.contains("\nappID         kiilocal  (emulator \(path))\n"))
        let file = try session.runtimeFile()
        let url = try #require(file["baseURL"]?.string)
        let key = try session.tool.write(try #require(file["appKey"]?.string), to: "key")
        try session.succeed(
            "register", "--base-url", url, "--app-id", "kiilocal", "--app-key-file", key, "--cacert",
            try #require(file["caFile"]?.string))
        let after = try session.succeed("config", "show", "--origin")
        let directory = session.tool.home.path + "/state/kii-push/profiles/default"
        #expect(after.contains("\nbaseURL       \(url)  (registration \(directory)/profile.json)\n"))
        #expect(after.contains("\nappKey        <set>  (registration \(directory)/credentials.json)\n"))
    }

    @Test func namesTheFiles() throws {
        let config = try self.tool.write(Self.file(""), to: "config/kii-push/config.json", mode: 0o644)
        let result = try self.tool("config", "show", "--origin", environment: ["XDG_CONFIG_DIRS": "/nowhere"])
        #expect(result.exit == 0)
        #expect(result.output.contains("\nfile.config   \(config)  (default)\n"), "\(result.output)")
        #expect(result.output.contains("\nfile.system   /nowhere/kii-push/config.json (not there)  (default)\n"))
        #expect(try !self.tool("config", "show").output.contains("file."))
        // The service's path: only the service can read its secrets.
        for directories in ["/nowhere", ""] {
            let paths = try self.tool("config", "show", "--origin", environment: ["XDG_CONFIG_DIRS": directories])
                .output
            #expect(!paths.contains("/etc/kii-push/"), "\(paths)")
        }
    }

    @Test func theSchemaHasWhatTheReaderTakes() throws {
        let schema = try SchemaCheck.schema("config")
        let pointer = try #require(JSONPointer("/properties/profiles/additionalProperties/properties"))
        let members = try #require(schema[pointer]?.members).map(\.key)
        #expect(members == ProfileConfiguration.members)
        let run = try #require(schema[pointer.appending("run").appending("properties")]?.members).map(\.key)
        #expect(Set(run) == Set(RunSettings.members))
    }

    @Test func theDocumentedExamplesFitTheSchema() throws {
        let schema = try SchemaCheck.schema("config")
        let lines = try self.tool("help", "files").output.split(separator: "\n").map(String.init)
        var examples: [JSONValue] = []
        for start in lines.indices where lines[start].contains(#"{"version""#) {
            // An example may continue on the next lines.
            let texts = (start..<min(start + 4, lines.count)).map { lines[start...$0].joined() }
            let example = texts.lazy.compactMap { try? JSONValue(parsing: Array($0.utf8)) }.first
            examples.append(try #require(example, "\(lines[start])"))
        }
        let secrets = examples.filter { $0["profiles"]?["default"]?["appKey"] != nil }
        #expect(examples.count == 4 && secrets.count == 1)
        for example in examples where !secrets.contains(example) {
            #expect(SchemaCheck.faults(example, schema) == [], "\(example)")
        }
        // The schema also refuses what the reader refuses.
        let wrong: [JSONValue] = [
            ["profiles": [:]], ["version": 1, "profiles": ["a": ["sit": "jp"]]],
            ["version": 1, "profiles": ["a": ["site": "mars"]]],
            ["version": 1, "profiles": ["a": ["subscriptions": ["topics": [1]]]]],
        ]
        for value in wrong { #expect(SchemaCheck.faults(value, schema) != [], "\(value)") }
    }
}
