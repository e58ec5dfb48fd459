import Foundation
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct SubscriptionTests {
    private static func configuration(_ subscriptions: String) -> String {
        #"{"version":1,"profiles":{"default":{"subscriptions":\#(subscriptions)}}}"#
    }

    /// A profile that is registered as with a remote cloud. The tool never treats a profile in the configuration as the
    /// emulator's.
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
                SubscriptionTests.configuration(subscriptions), to: "config/kii-push/config.json", mode: 0o644)
        }
    }

    @Test func listsWhatWasSubscribedAndWhatTheCloudLists() throws {
        let cloud = try Cloud()
        #expect(try cloud.run("subscriptions").output == "")
        #expect(try cloud.run("subscribe", "alerts", "user:me/todo", "--bucket", "user:me/notes").exit == 0)
        let user = try cloud.session.whoami("user")
        let all = try cloud.run("subscriptions")
        #expect(all.output == "alerts\nuser:\(user)/todo\nbucket user:\(user)/notes\n")
        // Without the file, the tool finds the topics, but not the bucket.
        let path = cloud.session.tool.home.path + "/state/kii-push/profiles/default/subscriptions.json"
        try FileManager.default.removeItem(atPath: path)
        let found = try cloud.run("subscriptions", "--json")
        let lines = try found.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(lines.map { $0["name"]?.string } == ["alerts", "todo"])
        #expect(lines.allSatisfy { $0["known_by"] == "cloud" && $0["subscribed"] == true })
        #expect(try cloud.run("unsubscribe", "alerts").exit == 0)
        #expect(try cloud.run("subscriptions").output == "alerts  (not subscribed)\nuser:\(user)/todo\n")
    }

    @Test func subscribesToWhatIsDeclaredWhereNothingIsNamed() throws {
        let cloud = try Cloud()
        let none = try cloud.run("subscribe")
        #expect(none.exit == 78)
        #expect(none.error.hasPrefix("kii-push: profile 'default' declares no subscriptions\n"))
        #expect(try cloud.run("unsubscribe").exit == 64)
        #expect(try cloud.run("subscribe", "old").exit == 0)
        _ = try cloud.declare(#"{"topics":["alerts","user:me/todo"],"buckets":["user:me/notes"]}"#)
        let user = try cloud.session.whoami("user")
        let declared = ["alerts", "user:\(user)/todo", "bucket user:\(user)/notes"]
        let made = try cloud.run("subscribe")
        #expect(made.exit == 0 && made.output == declared.map { "subscribed \($0)\n" }.joined(), "\(made.error)")
        let again = try cloud.run("subscribe")
        #expect(again.exit == 0 && again.output == declared.map { "subscribed \($0) (it was already)\n" }.joined())
        #expect(try cloud.run("unsubscribe", "alerts").exit == 0)
        let lines = try cloud.run("subscriptions").output.split(separator: "\n").map { String($0) }.sorted()
        #expect(lines == ["alerts  (not subscribed)", declared[2], "old", declared[1]])
    }

    @Test(arguments: [
        (#"{"topic":[]}"#, "1:62", "/topic is unknown; did you mean 'topics'?"),
        ("{\n  \"topics\": [\"ok\",\n    \"not ok\"]}", "3:5", "/topics/1 must be a name of up to 64 letters"),
        (#"{"buckets":"a"}"#, "1:64", "/buckets must be an array"),
        ("[]", "1:53", " must be an object"),
    ])
    func saysWhereADeclarationIsWrong(text: String, place: String, words: String) throws {
        let tool = try Tool()
        let path = try tool.write(Self.configuration(text), to: "config/kii-push/config.json", mode: 0o644)
        let result = try tool("subscribe")
        #expect(result.exit == 78)
        let pointer = "/profiles/default/subscriptions"
        #expect(result.error.hasPrefix("kii-push: \(path):\(place): \(pointer)\(words)"), "\(result.error)")
    }
}
