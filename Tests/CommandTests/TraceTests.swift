import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct TraceTests {
    private func json(_ session: EmulatorSession, _ arguments: String...) throws -> JSONValue {
        let result = try session.tool.start(["trace", "--json"] + arguments).waitForExit()
        try #require(result.exit == 0, "\(result.error)")
        #expect(result.error == "")
        return try JSONValue(parsing: result.output)
    }

    private func words(_ trace: JSONValue) -> [String] {
        (trace["events"]?.array ?? []).compactMap { $0["event"]?.string }
    }

    @Test func tellsALifeWithAFailureInIt() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        try session.succeed("send", "topic", "alerts", "--data", #"{"msg":"canary-4711"}"#)
        #expect(try session.tool("listen", "-n1", "-t5m", "--complete-as", "failed").exit == 0)
        #expect(try session.tool("listen", "-n1", "-t5m").exit == 0)

        let output = try session.succeed("trace", "#1")
        #expect(!output.contains("canary"))
        let lines = output.split(separator: "\n").map { String($0) }
        #expect(lines[0] == "message       #1")
        #expect(lines[1] == "state         done")
        #expect(lines[2] == "kind          push-to-user  topic=alerts")
        #expect(lines[3].wholeMatch(of: /size          \d+ bytes/) != nil)
        #expect(lines[4].wholeMatch(of: /MQTT          QoS 1, packet \d+, DUP not set, connection \d+/) != nil)
        #expect(lines[7] == "times         UTC")
        let events = lines.dropFirst(8)
        let line = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +(\+\d+|0) ms  (.*)/
        #expect(events.allSatisfy { $0.wholeMatch(of: line) != nil }, "\(output)")
        let happened = events.compactMap { $0.wholeMatch(of: line)?.2 }
        #expect(
            happened == [
                "received", "stored", "acknowledged", "started       attempt 1",
                "failed        attempt 1: failed; again after 1.0 s", "started       attempt 2",
                "done          newData, attempt 2",
            ])
        #expect(try session.succeed("trace", "1", "--payload").hasSuffix("\n\n" + self.payload(session) + "\n"))
    }

    private func payload(_ session: EmulatorSession) throws -> String {
        try #require(try self.json(session, "1", "--payload")["payload"]).text
    }

    @Test func tellsProgramsTheSame() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "user:me/notes")
        try session.succeed("send", "topic", "user:me/notes", "--data", #"{"msg":"canary-4711"}"#)
        #expect(try session.tool("listen", "-n1", "-t5m", "--complete-as", "noData").exit == 0)
        let trace = try self.json(session, "1")
        #expect(trace["v"]?.int64 == 1)
        #expect(trace["type"]?.string == "trace")
        #expect(trace["id"]?.int64 == 1)
        #expect(trace["state"]?.string == "done")
        #expect(trace["kind"]?.string == "pushToUser")
        #expect(trace["topic"]?["name"]?.string == "notes")
        #expect(trace["qos"]?.int64 == 1)
        #expect(trace["dup"]?.bool == false)
        #expect((trace["packet_id"]?.int64 ?? 0) > 0)
        #expect((trace["bytes"]?.int64 ?? 0) > 100)
        #expect(trace["missing"]?.array?.count == 0)
        #expect(self.words(trace) == ["received", "stored", "acknowledged", "started", "done"])
        let done = try #require(trace["events"]?.array?.last)
        #expect(done["result"]?.string == "noData")
        #expect(done["attempt"]?.int64 == 1)
        let offsets = (trace["events"]?.array ?? []).compactMap { $0["offset_ms"]?.int64 }
        #expect(offsets == offsets.sorted() && offsets.first == 0)
        #expect(!trace.text.contains("canary"))
        #expect(try self.json(session, "1", "--payload")["payload"]?["msg"]?.string == "canary-4711")
    }

    @Test func readsBesideAReceiver() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        let listener = try session.tool.start(["listen", "--complete-as", "failed"])
        #expect(listener.output(containing: "attempt 1, retry").contains("n=1"))
        let trace = try self.json(session, "1")
        #expect(["retry", "running"].contains(trace["state"]?.string ?? ""))
        #expect(self.words(trace).prefix(5) == ["received", "stored", "acknowledged", "started", "failed"])
        let state = session.tool.home.path + "/state/kii-push/profiles/default"
        let other = try session.tool("trace", "1", "--state-directory", state)
        #expect(other.exit == 0)
        #expect(other.output.contains("kind          direct-push  from=admin\n"))
        listener.stop()
    }

    @Test func saysWhichMessagesThereAreNot() throws {
        let session = try EmulatorSession()
        let unknown = try session.tool("trace", "1")
        #expect(unknown.exit == 78)
        #expect(unknown.error == "kii-push: profile 'default' is not registered\n          run: kii-push register\n")
        try session.succeed("register")
        let none = try session.tool("trace", "1")
        #expect(none.exit == 66)
        #expect(none.error == "kii-push: there is no message 1: none was received yet\n")
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        #expect(try session.tool("listen", "-n1", "-t5m").exit == 0)
        #expect(try session.tool("trace", "2").error == "kii-push: there is no message 2: the last one received is 1\n")
        let file = session.tool.home.path + "/state/kii-push/profiles/default/inbox.sqlite"
        let inbox = try Inbox(path: file)
        let isRemoved = try inbox.transaction { transaction throws(InboxError) in
            try transaction.update(MessageChange(sequence: 1, state: .dead), at: .now())
            return try transaction.drop(1)
        }
        #expect(isRemoved)
        let gone = try session.tool("trace", "1", "--json")
        #expect(gone.exit == 66)
        #expect(gone.error.contains(#""category":"missing-input""#))
        #expect(gone.error.contains("message 1 is not kept any more"))
    }

    @Test func saysWhyThereIsNoInboxToRead() throws {
        let tool = try Tool()
        let missing = try tool("trace", "1", "--state-directory", tool.home.path)
        #expect(missing.exit == 66)
        #expect(
            missing.error
                == "kii-push: there is no inbox at \(tool.home.path)/inbox.sqlite: no message was received into a file "
                + "there\n")
        let file = try tool.write("this is no database, but long enough to be looked at as one\n", to: "inbox.sqlite")
        let damaged = try tool("trace", "1", "--state-directory", tool.home.path)
        #expect(damaged.exit == 74)
        #expect(damaged.error.contains("cannot be read"))
        try FileManager.default.removeItem(atPath: file)
        do { _ = try Inbox(path: file) }
        // The user version of a SQLite file, at byte 60, big-endian.
        let handle = try FileHandle(forUpdating: URL(filePath: file))
        try handle.seek(toOffset: 60)
        try handle.write(contentsOf: [0, 0, 0, 9])
        try handle.close()
        let newer = try tool("trace", "1", "--state-directory", tool.home.path)
        #expect(newer.exit == 78)
        #expect(newer.error.contains("newer version of this program (format 9)"))
    }

    @Test(arguments: [["0"], ["-1"], ["x"], ["1.5"], [], ["1", "2"], ["1", "-p", "a", "--state-directory", "b"]])
    func takesOneNumber(arguments: [String]) throws {
        let result = try Tool().start(["trace"] + arguments).waitForExit()
        #expect(result.exit == 64)
        #expect(result.output == "")
    }
}
