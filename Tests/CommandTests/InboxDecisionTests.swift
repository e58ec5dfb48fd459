import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct InboxDecisionTests {
    private static let all: [RowState] = [.waiting, .inHand, .retry, .presented, .done, .dead]

    private func session(_ states: [RowState]) throws -> EmulatorSession {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.store(states)
        return session
    }

    @Test func whereNothingReceivesAnyMessageIsTriedAgain() throws {
        let session = try self.session(Self.all)
        let result = try session.tool("inbox", "retry", "1", "2", "3", "4", "5", "6")
        #expect(result.error == "")
        #expect(result.output == (1...6).map { "retried #\($0)\n" }.joined())
        let listed = try session.succeed("inbox", "list").split(separator: "\n")
        #expect(listed.map { $0.prefix(17) } == (1...6).map { "#\($0)      waiting  " })
        let received = try session.tool("listen", "-n6", "-t5m")
        for number in 1...6 { #expect(received.output.contains(" n=\(number)"), "\(received.output)") }
        #expect(try session.succeed("inbox", "stats", "--json").contains(#""done":6"#))
    }

    @Test func whereNothingReceivesAnyMessageIsDropped() throws {
        let session = try self.session(Self.all)
        let result = try session.tool("inbox", "drop", "1", "2", "3", "4", "5", "6")
        #expect(result.error == "")
        #expect(result.output == (1...6).map { "dropped #\($0)\n" }.joined())
        #expect(try session.succeed("inbox", "list", "--state", "done") == "")
        #expect(try session.succeed("inbox", "list") == "")
        let stats = try JSONValue(parsing: session.succeed("inbox", "stats", "--json"))
        // The handled message still counts as done.
        let counts = ["received", "done", "dropped", "expired", "unaccounted"].map { stats[$0]?.int64 }
        #expect(counts == [6, 1, 5, 0, 0])
        let unknown = try session.tool("inbox", "drop", "1", "9")
        #expect(unknown.exit == 66)
        #expect(unknown.error.hasPrefix("kii-push: #1, #9 cannot be dropped: they are not in the inbox\n"))
    }

    @Test func whatReceivesTriesAnyMessageAgainAtOnce() throws {
        let session = try self.session([.retry, .done, .dead])
        let listener = try session.ready(["listen"])
        for number in 1...3 {
            #expect(try session.succeed("inbox", "retry", "\(number)") == "retried #\(number)\n")
            #expect(listener.output(containing: " n=\(number)").contains(" n=\(number)"))
        }
        listener.stop()
        #expect(try session.succeed("inbox", "stats", "--json").contains(#""done":3"#))
    }

    /// The order ends the pause early, and the count of attempts continues.
    @Test func aMessageThatPausesInMemoryIsTriedAtOnce() throws {
        let session = try self.session([.waiting])
        let gate = session.tool.home.path + "/gate"
        let run = try session.tool.start([
            "run", "--shell", "--exec", #"[ "$KII_PUSH_ATTEMPT" = 4 ] || [ -e "$HOME/gate" ] || exit 75"#,
        ])
        // The next attempt would follow after 30 s.
        #expect(run.output(containing: "attempt 3, ").contains("attempt 3, retry in 30"))
        try session.succeed("inbox", "retry", "1")
        #expect(run.output(containing: "newData        #1").contains("newData        #1"))
        #expect(!FileManager.default.fileExists(atPath: gate))
        run.stop()
    }

    @Test func aMessageWhoseHandlerRunsIsLeftToIt() throws {
        let session = try self.session([.waiting, .waiting])
        let run = try session.ready([
            "run", "--shell", "--exec", #"touch "$HOME/begun"; until [ -e "$HOME/gate" ]; do sleep 0.05; done"#,
        ])
        run.waitUntil { FileManager.default.fileExists(atPath: session.tool.home.path + "/begun") }
        for word in ["retry", "drop"] {
            let refused = try session.tool("inbox", word, "1")
            #expect(refused.exit == 75)
            #expect(refused.output == "")
            let pattern =
                #"kii-push: #1 is in hand: its handler has been at it for [0-9.]+ m?s\n {10}try again when it has answered\n"#
            #expect(try refused.error.wholeMatch(of: Regex(pattern)) != nil, "\(refused.error)")
        }
        // The message waits for the first one to finish, and can be dropped meanwhile.
        #expect(try session.succeed("inbox", "drop", "2") == "dropped #2\n")
        try session.tool.write("", to: "gate")
        #expect(run.output(containing: "newData        #1").contains("newData        #1"))
        run.stop()
        #expect(try session.succeed("inbox", "stats", "--json").contains(#""done":1"#))
    }

    @Test func replaysAnyMessage() throws {
        let session = try self.session(Self.all)
        let words = (1...6).flatMap { ["--message", "\($0)"] }
        let result = try session.tool.start(["replay", "--exec", "true"] + words).waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.matches(of: /<-- newData/).count == 6)
        let missing = try session.tool("replay", "--exec", "true", "--message", "7")
        #expect(missing.exit == 66)
        #expect(missing.error == "kii-push: there is no message 7: the last one received is 6\n")
    }

    // MARK: - Reports about the messages

    @Test func aMessageThatEndedTheProcessHasItsAttempts() throws {
        let session = try self.session([.inHand])
        let inbox = try Inbox(path: session.stateDirectory + "/inbox.sqlite")
        for attempt in 1...6 {
            // The row that each process wrote before it ended.
            var change = MessageChange(sequence: 1, state: .inHand, attempts: attempt, crashes: attempt)
            change.attempt = .init(number: attempt)
            try inbox.update(change)
        }
        let listener = try session.ready(["listen"])
        #expect(listener.output(containing: "crashed").contains("crashed"))
        listener.stop()
        let dead = try JSONValue(parsing: session.succeed("inbox", "list", "--json", "--state", "dead"))
        #expect(dead["attempts"]?.int64 == 6)
    }

    @Test func doctorTellsWhatIsInHand() throws {
        let session = try self.session([.inHand, .inHand, .inHand, .waiting, .retry, .dead, .done])
        let evidence = try session.doctorOnInbox()["evidence"]?.string
        #expect(evidence == "7 received: 2 waiting, 3 in hand, 0 shown, 1 given up on")
    }
}
