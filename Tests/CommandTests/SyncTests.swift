import Foundation
import KiiPushCore
import TestTraits
import Testing

/// Subscriptions as they are found out, and as they are declared.
@Suite(.ownThreads) struct SyncTests {
    private static func configuration(_ subscriptions: String) -> String {
        #"{"version":1,"profiles":{"default":{"subscriptions":\#(subscriptions)}}}"#
    }

    /// A profile that is registered as with any cloud, since one that the configuration names is none of the emulator's.
    private struct Cloud {
        let session: EmulatorSession
        private let options: [String]

        init() throws {
            self.session = try EmulatorSession()
            let file = try self.session.runtimeFile()
            let key = try self.session.tool.write(try #require(file["appKey"]?.string), to: "key")
            self.options = [
                "--base-url", try #require(file["baseURL"]?.string), "--app-id", try #require(file["appID"]?.string),
                "--app-key-file", key, "--cacert", try #require(file["caFile"]?.string),
            ]
            self.environment = [
                "KII_PUSH_CLIENT_ID": try #require(file["clientID"]?.string),
                "KII_PUSH_CLIENT_SECRET": try #require(file["clientSecret"]?.string),
            ]
            #expect(try self.run("register").exit == 0)
        }

        private let environment: [String: String]

        func run(_ words: String...) throws -> Tool.Result {
            try self.session.tool.start(words + self.options, environment: self.environment).waitForExit()
        }

        func declare(_ subscriptions: String) throws -> String {
            try self.session.tool.write(
                SyncTests.configuration(subscriptions), to: "config/kii-push/config.json", mode: 0o644)
        }
    }

    @Test func listsWhatWasSubscribedAndWhatTheCloudLists() throws {
        let cloud = try Cloud()
        #expect(try cloud.run("subscriptions").output == "")
        #expect(try cloud.run("subscribe", "alerts", "user:me/todo", "--bucket", "user:me/notes").exit == 0)
        let user = try cloud.session.whoami("user")
        let all = try cloud.run("subscriptions")
        #expect(all.output == "alerts\nuser:\(user)/todo\nbucket user:\(user)/notes\n")
        // Where nothing is remembered, the topics are found and the bucket is not.
        let path = cloud.session.tool.home.path + "/state/kii-push/profiles/default/subscriptions.json"
        try FileManager.default.removeItem(atPath: path)
        let found = try cloud.run("subscriptions", "--json")
        let lines = try found.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(lines.map { $0["name"]?.string } == ["alerts", "todo"])
        #expect(lines.allSatisfy { $0["known_by"] == "cloud" && $0["subscribed"] == true })
        // What was ended elsewhere is not listed, though it was made here.
        #expect(try cloud.run("unsubscribe", "alerts").exit == 0)
        #expect(try cloud.run("subscriptions").output == "user:\(user)/todo\n")
    }

    @Test func makesTheDifferenceGoAwayAndSaysWhatItWas() throws {
        let cloud = try Cloud()
        #expect(try cloud.run("subscribe", "old", "--bucket", "user:me/stale").exit == 0)
        _ = try cloud.declare(#"{"topics":["alerts","user:me/todo"],"buckets":["user:me/notes"]}"#)
        let user = try cloud.session.whoami("user")
        let difference = "+ alerts\n+ user:\(user)/todo\n+ bucket user:\(user)/notes\n"
        let surplus = "- old\n- bucket user:\(user)/stale\n"
        let dry = try cloud.run("sync", "--dry-run", "--prune")
        #expect(dry.exit == 0 && dry.output == difference + surplus)
        #expect(try cloud.run("subscriptions").output == "old\nbucket user:\(user)/stale\n")
        let kept = try cloud.run("sync")
        #expect(kept.exit == 0 && kept.output == difference + surplus)
        #expect(kept.error.contains("old is kept; --prune ends it\n"))
        let pruned = try cloud.run("sync", "--prune", "--json")
        let lines = try pruned.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(lines.map { $0["name"]?.string } == ["old", "stale"])
        #expect(lines.allSatisfy { $0["difference"] == "surplus" && $0["changed"] == true })
        let settled = try cloud.run("sync", "--prune")
        #expect(settled.exit == 0 && settled.output == "" && settled.error.hasSuffix("nothing to do\n"))
        #expect(
            try cloud.run("subscriptions").output.split(separator: "\n").sorted()
                == ["alerts", "bucket user:\(user)/notes", "user:\(user)/todo"])
    }

    @Test func takesAFileInsteadAndPrunesNothingWithoutADeclaration() throws {
        let cloud = try Cloud()
        #expect(try cloud.run("subscribe", "old").exit == 0)
        let none = try cloud.run("sync", "--prune")
        #expect(none.exit == 78)
        #expect(none.error.hasPrefix("kii-push: profile 'default' declares no subscriptions\n"))
        let file = try cloud.session.tool.write(#"{"topics":["old","new"]}"#, to: "wanted.json")
        #expect(try cloud.run("sync", file).output == "+ new\n")
        #expect(try cloud.run("sync", cloud.session.tool.home.path + "/absent.json").exit == 66)
    }

    @Test(arguments: [
        (#"{"topic":[]}"#, "1:10", "/topic is unknown; did you mean 'topics'?"),
        ("{\n  \"topics\": [\"ok\",\n    \"not ok\"]}", "3:5", "/topics/1 must be a name of up to 64 letters"),
        (#"{"buckets":"a"}"#, "1:12", "/buckets must be a list of names"),
        ("[]", "1:1", "it must be an object"),
        ("{\n\"topics\": [,]}", "2:12", "it is not JSON at byte 13"),
    ])
    func saysWhereADeclarationIsWrong(text: String, place: String, words: String) throws {
        let tool = try Tool()
        let path = try tool.write(text, to: "wanted.json")
        let result = try tool("sync", path)
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: \(path):\(place): \(words)"), "\(result.error)")
    }
}
