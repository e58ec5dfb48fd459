import Foundation
import Glibc
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct SecretSourceTests {
    private static func file(_ profile: String, _ members: JSONValue) -> String {
        let root: JSONValue = ["version": 1, "profiles": .object([(profile, members)])]
        return String(decoding: root.serialized(), as: UTF8.self)
    }

    /// An emulator that the tool treats as a remote cloud, so that its runtime file provides no secret.
    private struct Cloud {
        let session: EmulatorSession
        let options: [String]
        let admin: (id: String, secret: String)

        init() throws {
            self.session = try EmulatorSession()
            let file = try self.session.runtimeFile()
            self.options = [
                "--base-url", try #require(file["baseURL"]?.string), "--app-id", try #require(file["appID"]?.string),
                "--cacert", try #require(file["caFile"]?.string),
            ]
            self.admin = (try #require(file["clientID"]?.string), try #require(file["clientSecret"]?.string))
        }

        func run(_ words: [String], _ environment: [String: String]) throws -> Tool.Result {
            try self.session.tool.start(words + self.options, environment: environment).waitForExit()
        }
    }

    /// The emulator accepts any key, and `register` keeps the key that it used.
    @Test func theServiceManagerComesBeforeTheEnvironmentBeforeTheFile() throws {
        let cloud = try Cloud()
        let tool = cloud.session.tool
        let home = tool.home
        func keyUsed(_ profile: String, _ environment: [String: String]) throws -> String? {
            try tool.write(Self.file(profile, ["appKey": "file"]), to: "config/kii-push/credentials.json")
            try tool.write(
                Self.file(profile, ["appKey": "manager"]), to: "credentials/kii-push-credentials.json", mode: 0o440)
            let result = try cloud.run(["register", "-p", profile], environment)
            try #require(result.exit == 0, "\(result.error)")
            let kept = home.appending(path: "state/kii-push/profiles/\(profile)/credentials.json")
            return try JSONValue(parsing: [UInt8](Data(contentsOf: kept)))["appKey"]?.string
        }
        let manager = ["CREDENTIALS_DIRECTORY": home.path + "/credentials"]
        let environment = ["KII_PUSH_APP_KEY": "environment"]
        #expect(try keyUsed("a", manager.merging(environment) { $1 }) == "manager")
        #expect(try keyUsed("b", environment) == "environment")
        #expect(try keyUsed("c", [:]) == "file")
        #expect(try keyUsed("c", environment) == "environment")
    }

    @Test func aSecretOnStandardInputEndsWithItsLine() throws {
        let session = try EmulatorSession()
        let path = session.tool.home.path + "/secret"
        try #require(mkfifo(path, 0o600) == 0)
        // The pipe stays open, so its reader finds no end.
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let text = Array("correct-horse\r\nmore".utf8)
        try #require(write(descriptor, text, text.count) == text.count)
        let words = ["register", "--user", "alice", "--create", "--password-stdin"]
        let result = try RunningTool(
            ["/bin/sh", "-c", #"exec "$0" "$@" <"$HOME/secret""#, Tool.executable.path] + words,
            environment: session.tool.environment
        ).waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        let kept = session.tool.home.appending(path: "state/kii-push/profiles/default/credentials.json")
        #expect(try JSONValue(parsing: [UInt8](Data(contentsOf: kept)))["password"] == "correct-horse")
    }

    @Test func theAdministratorIsOfOneSource() throws {
        let cloud = try Cloud()
        let wrong: JSONValue = ["appKey": "k", "clientID": "wrong", "clientSecret": "wrong"]
        try cloud.session.tool.write(Self.file("default", wrong), to: "config/kii-push/credentials.json")
        let command = ["send", "topic", "nosuch", "--data", #"{"a":1}"#]
        let right = ["KII_PUSH_CLIENT_ID": cloud.admin.id, "KII_PUSH_CLIENT_SECRET": cloud.admin.secret]
        #expect(try cloud.run(command, right).exit == 76)
        #expect(try cloud.run(command, [:]).exit == 77)
        let half = try cloud.run(command, ["KII_PUSH_CLIENT_ID": cloud.admin.id])
        #expect(half.exit == 78)
        #expect(
            half.error == """
                kii-push: the environment has KII_PUSH_CLIENT_ID without KII_PUSH_CLIENT_SECRET
                          write both into one place: kii-push help files

                """)
    }

    @Test func halfOfAnAdministratorInAFileIsRefused() throws {
        let tool = try Tool()
        let path = try tool.write(Self.file("default", ["clientSecret": "s"]), to: "config/kii-push/credentials.json")
        let result = try tool("subscriptions")
        #expect(result.exit == 78)
        let place = "\(path):1:36: /profiles/default"
        #expect(result.error.hasPrefix("kii-push: \(place) has clientSecret without clientID\n"))
    }
}
