import Glibc
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct EmulatorActivityTests {
    private func act(on session: EmulatorSession) throws {
        try session.succeed("register", "--user", "alice", "--password-stdin", "--create", input: "correct-horse\n")
        try session.succeed("subscribe", "alerts")
        let listening = try session.ready(["listen"])
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":1}"#)
        listening.signal(SIGTERM)
        _ = listening.waitForExit()
    }

    @Test func eachRequestAndConnectionIsALine() throws {
        let session = try EmulatorSession()
        try self.act(on: session)
        let text = session.shown(containing: " offline ")
        let lines = [
            #" POST /users 201 [\d.]+ m?s\n"#, #" POST /oauth2/token 200 [\d.]+ m?s\n"#,
            #" PUT /topics/alerts/push/subscriptions/users/\S+ 204 [\d.]+ m?s\n"#,
            #" online user:\S+, installation [a-z0-9]{25}, over TLS\n"#,
            #" POST /topics/alerts/push/messages 200 [\d.]+ m?s -> 1 installation\n"#,
            #" offline user:\S+, installation [a-z0-9]{25}\n"#,
        ]
        for line in lines {
            #expect(text.contains(try Regex(#"\n\d\d:\d\d:\d\d\.\d{3}"# + line)), "\(line): \(text)")
        }
        #expect(!text.contains("correct-horse") && !text.contains(" /__kii"))
    }

    @Test func bodiesAreShownWithoutSecrets() throws {
        let session = try EmulatorSession(options: ["-v"])
        try self.act(on: session)
        let text = session.shown(containing: " offline ")
        #expect(text.contains(#"> {"data":{"n":1}"#), "\(text)")
        #expect(text.contains(#""access_token":"<redacted>""#), "\(text)")
        #expect(text.contains(" GET /__kii/"), "\(text)")
        #expect(!text.contains("correct-horse"))
    }

    @Test func programsGetObjects() throws {
        let tool = try Tool()
        let emulator = try tool.start(["emulator", "--temporary", "--json", "-v"] + EmulatorSession.freePorts())
        let first = emulator.output(containing: #""type":"emulator""#)
        #expect(first.contains(try Regex(#""inspector":"http://127\.0\.0\.1:\d+/__kii/ui""#)))
        #expect(try tool("register").exit == 0)
        let listening = try tool.start(["listen", "-n1", "-t5m"])
        _ = listening.error(containing: "> Ready. ")
        #expect(try tool("send", "user", "me", "--data", #"{"n":1}"#).exit == 0)
        #expect(listening.waitForExit().exit == 0)
        _ = emulator.output(containing: #""online":false"#)
        emulator.signal(SIGTERM)
        let output = emulator.waitForExit().output
        try OutputSchemaTests.check(output, has: "emulator", "activity")
        let lines = try output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let send = try #require(lines.first { $0["target"]?.string?.hasSuffix("/push/messages") == true })
        #expect(send["sent"]?[0]?["kind"] == "DIRECT_PUSH" && send["sent"]?[0]?["installations"]?.array?.count == 1)
        #expect(send["body"]?["data"] == ["n": 1])
        let events = Set(lines.compactMap { $0["event"]?.string })
        // A receiver may end before the emulator watches it, so the delivery event may be missing.
        #expect(events.subtracting(["delivery"]) == ["request", "connection"])
    }

    @Test func whatAHandlerAnswersIsALine() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let listening = try session.ready(["listen", "--complete-as", "noData"])
        // The emulator may start to watch the receiver only after any of these pushes.
        var text = ""
        for number in 1...600 where !text.contains(" handled ") {
            try session.succeed("send", "user", "me", "--data", #"{"n":\#(number)}"#)
            text = session.shown(containing: "\n")
        }
        #expect(text.contains(try Regex(#"\d handled   noData   \d+  default, attempt 1, [\d.]+ m?s\n"#)), "\(text)")
        listening.signal(SIGTERM)
        _ = listening.waitForExit()
    }

    @Test func quietShowsNothing() throws {
        let session = try EmulatorSession(options: ["-q"])
        try self.act(on: session)
        #expect(session.stop().output.hasSuffix("emulator.json\n"))
    }
}
