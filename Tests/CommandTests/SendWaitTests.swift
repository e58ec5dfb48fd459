import Foundation
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct SendWaitTests {
    private let session: EmulatorSession

    init() throws {
        self.session = try EmulatorSession()
        try self.session.succeed("register")
    }

    private func listen(_ options: String...) throws -> RunningTool {
        let listening = try self.session.tool.start(["listen"] + options)
        #expect(listening.error(containing: "> Ready. ").contains("> Ready. "))
        return listening
    }

    @Test func aSuccessIsWaitedFor() throws {
        let listening = try self.listen()
        let result = try self.session.tool("send", "user", "me", "--data", #"{"n":1}"#, "--wait", "9m")
        #expect(result.exit == 0, "\(result.error)")
        let words = /sent \S+ to user \S+, 1 receiver\n  http\S+\nnewData by profile default  #1  \d.*\n/
        #expect(result.output.wholeMatch(of: words) != nil)
        #expect(result.error == "")
        listening.stop()
    }

    @Test func programsAreToldTheVerdict() throws {
        let listening = try self.listen("--complete-as", "noData")
        let result = try self.session.tool("send", "user", "me", "--set", "/n=1", "--wait=9m", "--json")
        #expect(result.exit == 0, "\(result.error)")
        let objects = try result.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(objects.map { $0["type"]?.string } == ["sent", "verdict"])
        #expect(objects.last?["result"]?.string == "noData")
        #expect(objects.last?["id"] == 1)
        #expect(objects.last?["profile"]?.string == "default")
        #expect(objects.last?["elapsed_ms"]?.int64 != nil)
        #expect(try objects.last?["installation"]?.string == self.session.whoami("installation"))
        listening.signal(SIGTERM)
    }

    @Test func aFailureEndsTheWaitAlthoughItIsTriedAgain() throws {
        let listening = try self.listen("--complete-as", "failed")
        let result = try self.session.tool("send", "user", "me", "--data", #"{"n":1}"#, "--wait", "9m")
        #expect(result.exit == 1)
        let line = try #require(result.output.split(separator: "\n").last)
        #expect(line.wholeMatch(of: /failed by profile default  #1  \d.*  tried again after 1.0 s/) != nil, "\(line)")
        #expect(result.error == "")
        listening.signal(SIGTERM)
    }

    @Test func aDeadLetterEndsTheWait() throws {
        let run = try self.session.tool.start(
            ["run", "--exec", "bash", "--", "-c", "cat > /dev/null; exit 65"])
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        let result = try self.session.tool("send", "user", "me", "--data", #"{"n":1}"#, "--wait", "9m")
        #expect(result.exit == 1)
        #expect(result.output.contains("\ndead by profile default  #1  "))
        #expect(result.output.contains("rejected: the program refused it (exit status 65)\n"))
        run.signal(SIGTERM)
    }

    @Test func timeRunsOutWhereNobodyReceives() throws {
        let result = try self.session.tool("send", "user", "me", "--data", #"{"n":1}"#, "--wait", "300ms")
        #expect(result.exit == 124)
        #expect(
            result.error == """
                kii-push: no verdict within 300 ms: profile 'default' has not received it
                          is it received? See 'kii-push listen' and 'kii-push inbox list --state waiting'

                """)
        // The wait does not match an equal message that was sent earlier.
        #expect(try self.session.tool("listen", "-n1", "-t5m").exit == 0)
        #expect(try self.session.tool("send", "user", "me", "--data", #"{"n":1}"#, "--wait", "300ms").exit == 124)
    }

    @Test func everyReceiverOfATopicIsWaitedFor() throws {
        try self.session.tool.write("secret\n", to: "password")
        try self.session.succeed(
            "register", "-p", "meter", "--thing", "m1", "--password-file", self.session.tool.home.path + "/password")
        try self.session.succeed("subscribe", "alerts")
        try self.session.succeed("subscribe", "-p", "meter", "alerts")
        let user = try self.listen()
        let late = try self.session.tool("send", "topic", "alerts", "--data", #"{"n":1}"#, "--wait", "2s")
        #expect(late.exit == 124)
        #expect(late.error.contains("profile 'meter' has not received it\n"))
        let meter = try self.listen("-p", "meter", "--complete-as", "failed")
        let result = try self.session.tool("send", "topic", "alerts", "--data", #"{"n":2}"#, "--wait", "9m")
        #expect(result.exit == 1)
        #expect(result.output.contains("\nnewData by profile default  #2  "))
        #expect(result.output.contains("\nfailed by profile meter  #2  "))
        user.signal(SIGTERM)
        meter.signal(SIGTERM)
    }

    @Test func thePushAboutAnObjectIsWaitedFor() throws {
        let nobody = try self.session.tool("send", "object", "user:me/notes", "--fixture", "note", "--wait")
        #expect(nobody.exit == 1)
        #expect(
            nobody.error == """
                kii-push: it was sent, and went to no installation that receives over MQTT
                          for a topic or a bucket: kii-push subscribe

                """)
        try self.session.succeed("subscribe", "--bucket", "user:me/notes")
        let listening = try self.listen()
        let result = try self.session.tool("send", "object", "user:me/notes", "--fixture", "order", "--wait", "9m")
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.contains("\nnewData by profile default  #1  "))
        listening.signal(SIGTERM)
    }

    @Test func payloadsOfApplesDevicesAreWaitedForToo() throws {
        try self.session.succeed("register", "-p", "desk", "--payload", "apns")
        let listening = try self.listen("-p", "desk")
        let result = try self.session.tool("send", "user", "-p", "desk", "me", "--fixture", "alert", "--wait", "9m")
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.contains("\nnewData by profile desk  #1  "))
        listening.signal(SIGTERM)
    }

    @Test func aReceiverElsewhereIsNotWaitedFor() throws {
        let user = try self.session.whoami("user")
        let state = self.session.tool.home.path + "/elsewhere"
        let result = try self.session.tool.start(
            ["send", "user", user, "--data", #"{"n":1}"#, "--wait"], environment: ["XDG_STATE_HOME": state]
        ).waitForExit()
        #expect(result.exit == 1)
        #expect(
            result.error == """
                kii-push: it was sent to 1 installation, and no profile of this state directory receives with it
                          run this where the state of the receiver is (XDG_STATE_HOME)

                """)
    }

    @Test func onlyTheEmulatorTellsWhereAMessageWent() throws {
        let environment = [
            "KII_PUSH_BASE_URL": "http://127.0.0.1:9/api", "KII_PUSH_APP_ID": "app1", "KII_PUSH_APP_KEY": "key",
            "KII_PUSH_CLIENT_ID": "client", "KII_PUSH_CLIENT_SECRET": "secret",
        ]
        let result = try self.session.tool.start(
            ["send", "user", "u1", "--data", #"{"n":1}"#, "--wait"], environment: environment
        ).waitForExit()
        #expect(result.exit == 64)
        #expect(result.output == "")
        #expect(
            result.error == """
                kii-push: '--wait' needs the emulator: another cloud does not say to whom a message went
                          leave it out, and look with 'kii-push inbox list' where it is received

                """)
    }
}
