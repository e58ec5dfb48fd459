import Foundation
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import KiiPushCore
@testable import kii_push

@Suite(.ownThreads) struct InboxTests {
    /// A profile whose inbox holds one finished message, one that waits for its retry, one that waits for its first
    /// attempt, and two dead letters.
    private func session() throws -> EmulatorSession {
        let session = try EmulatorSession()
        try session.succeed("register")
        for (number, result) in [(1, "newData"), (2, "failed")] {
            try session.succeed("send", "user", "me", "--data", #"{"n":\#(number)}"#)
            #expect(try session.tool("listen", "-n1", "-t5m", "--complete-as", result).exit == 0)
        }
        let inbox = try Inbox(path: session.tool.home.path + "/state/kii-push/profiles/default/inbox.sqlite")
        let model = try #require(try inbox.row(1))
        let text = String(decoding: model.payload, as: UTF8.self)
        try inbox.transaction { transaction throws(InboxError) in
            for (number, state) in [(3, RowState.waiting), (4, .dead), (5, .dead)] {
                let payload = text.replacingOccurrences(of: #""n":1"#, with: #""n":\#(number)"#)
                _ = try transaction.insert(
                    StoredMessage(
                        installation: model.installation, topic: model.topic, payload: Array(payload.utf8),
                        receivedAt: .now(), state: state,
                        reason: state == .dead ? "rejected: no\u{1b}[31m use" : nil))
            }
        }
        return session
    }

    private func list(_ session: EmulatorSession, _ words: String...) throws -> [String] {
        let result = try session.tool.start(["inbox", "list"] + words).waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        return result.output.split(separator: "\n").map { String($0) }
    }

    @Test func listsWhatIsNotDone() throws {
        let session = try self.session()
        let lines = try self.list(session)
        let time = #"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}"#
        let patterns = [
            "#2      retry     \(time)  direct-push  from=admin  the next attempt is due at \(time)",
            "#3      waiting   \(time)  direct-push  from=admin",
            #"#4      dead      \#(time)  direct-push  from=admin  rejected: no\\u001b\[31m use"#,
            #"#5      dead      \#(time)  direct-push  from=admin  rejected: no\\u001b\[31m use"#,
        ]
        #expect(lines.count == patterns.count)
        for (line, pattern) in zip(lines, patterns) {
            #expect(try line.wholeMatch(of: Regex(pattern)) != nil, "\(line)")
        }
        #expect(
            try self.list(session, "--state", "done", "--state", "dead").map { $0.prefix(2) } == ["#1", "#4", "#5"])
        #expect(try self.list(session, "-n2").map { $0.prefix(2) } == ["#4", "#5"])
        #expect(try self.list(session, "-n1", "--state", "done").map { $0.prefix(2) } == ["#1"])
        #expect(try self.list(session, "-n9").count == 4)
        #expect(try self.list(session, "-n\(Int.max)").count == 4)
        #expect(try self.list(session, "--state", "presented") == [])
    }

    @Test func timesAreThoseOfThisPlaceAndSayWhichZoneThatIsOnce() throws {
        let session = try self.session()
        let here = try session.tool("inbox", "list", "-n1", environment: ["TZ": "<+0545>-05:45"])
        #expect(here.error == "> Times are +0545 (UTC+05:45).\n")
        let trace = try session.tool("trace", "1", environment: ["TZ": "<+0545>-05:45"])
        #expect(trace.output.contains("\ntimes         +0545 (UTC+05:45)\n"))
        let utc = try session.tool("trace", "1")
        #expect(utc.output.contains("\ntimes         UTC\n"))
        // The same moment, shown in two zones 345 minutes apart.
        func minutes(_ text: String) throws -> Int {
            let time = try #require(text.firstMatch(of: /\n[-\d]+ (\d\d):(\d\d):[\d.]+ +0 ms  received/))
            return try #require(Int(time.1)) * 60 + #require(Int(time.2))
        }
        #expect(try (minutes(trace.output) - minutes(utc.output) + 1440) % 1440 == 345)
        #expect(try session.tool("trace", "1", "--json").output.contains(/"at":"[-\d]+T[:.\d]+Z"/))
    }

    @Test func tellsProgramsTheSame() throws {
        let session = try self.session()
        let objects = try self.list(session, "--json", "--state", "dead").map { try JSONValue(parsing: $0) }
        #expect(objects.map { $0["type"]?.string } == ["inbox_message", "inbox_message"])
        #expect(objects.map { $0["id"]?.int64 } == [4, 5])
        #expect(objects[0]["state"]?.string == "dead")
        #expect(objects[0]["reason"]?.string == "rejected: no\u{1b}[31m use")
        #expect(objects[0]["kind"]?.string == "directPush")
        #expect(objects[0]["attempts"]?.int64 == 0)
        #expect(objects[0]["payload"] == nil)
        let stats = try JSONValue(parsing: session.succeed("inbox", "stats", "--json"))
        #expect(stats["type"]?.string == "inbox")
        let names = ["received", "waiting", "done", "dead", "expired", "lost", "dropped", "unaccounted"]
        let counts = names.map { stats[$0]?.int64 }
        #expect(counts == [5, 2, 1, 2, 0, 0, 0, 0])
        #expect(try session.succeed("inbox", "stats").hasPrefix("received      5\nduplicates    0\nwaiting       2\n"))
    }

    @Test func showsAPayload() throws {
        let session = try self.session()
        let text = try session.succeed("trace", "4", "--payload")
        #expect(text.contains("state         dead  rejected: no\\u001b[31m use\n"))
        #expect(text.contains(#"{"n":4,"#))
        #expect(
            try session.tool("trace", "6", "--payload").error
                == "kii-push: there is no message 6: the last one received is 5\n")
    }

    @Test func triesDeadLettersAgainOrDropsThem() throws {
        let session = try self.session()
        let refused = try session.tool("inbox", "retry", "4", "9")
        #expect(refused.exit == 66)
        #expect(refused.output == "retried #4\n")
        #expect(
            refused.error
                == "kii-push: #9 cannot be retried: it is not in the inbox, or nobody knows for whom\n"
                + "          run: kii-push inbox list\n")
        #expect(try session.succeed("inbox", "drop", "--all") == "dropped #5\n")
        #expect(try session.succeed("inbox", "drop", "--all") == "")
        #expect(try self.list(session).map { $0.prefix(10) } == ["#2      re", "#3      wa", "#4      wa"])
        #expect(try session.tool("listen", "-n3", "-t5m").output.contains(#"n=4"#))
        #expect(
            try session.succeed("inbox", "stats", "--json")
                .contains(#""done":4,"dead":0,"expired":0,"lost":0,"dropped":1,"unaccounted":0"#))
    }

    @Test func asksTheProcessThatReceivesToChangeTheInbox() throws {
        let session = try self.session()
        let listener = try session.ready(["listen"])
        #expect(try session.succeed("inbox", "drop", "5") == "dropped #5\n")
        let refused = try session.tool("inbox", "retry", "4", "5")
        #expect(refused.exit == 66)
        #expect(refused.output == "retried #4\n")
        #expect(refused.error.hasPrefix("kii-push: #5 cannot be retried: it is not in the inbox"))
        #expect(listener.output(containing: " n=4").contains(" n=4"))
        listener.stop()
        #expect(
            try session.succeed("inbox", "stats", "--json")
                .contains(#""dead":0,"expired":0,"lost":0,"dropped":1,"unaccounted":0"#))
    }

    @Test func saysWhatTheProcessThatReceivesDidNotDo() throws {
        let session = try self.session()
        let directory = session.tool.home.path + "/state/kii-push/profiles/default"
        let server = try ControlServer(directory: directory) { _, reply in
            reply(.failed(id: nil, reason: "it is full"))
        }
        let refused = try session.tool("inbox", "retry", "--all")
        #expect(refused.exit == ExitStatus.inputOutput.rawValue)
        #expect(refused.error == "kii-push: it is full\n")
        server.stop()
        for (error, exit) in [
            (InboxAccessError.silent, ExitStatus.temporary), (.ended, .temporary),
            (.refused(reason: "r"), .inputOutput),
        ] {
            #expect(CommandFailure(describing: error).exit == exit)
            let askers = [
                InboxRetryCommand.configuration, InboxDropCommand.configuration, ListenCommand.configuration,
            ]
            for command in askers { #expect(command.exitCodes.contains(exit), "\(command.commandName)") }
        }
    }

    /// The receiver is an agent in this process, as in another program.
    @Test func leavesAnInboxAloneWhoseReceiverCannotBeAsked() throws {
        let session = try self.session()
        let directory = session.tool.home.path + "/state/kii-push/profiles/default"
        let lock = try FileLock(path: directory + "/lock")
        let result = try session.tool("inbox", "drop", "--all")
        #expect(result.exit == 75)
        #expect(
            result.error
                == "kii-push: process \(getpid()) receives with this inbox\n"
                + "          it has no control socket to ask it by; stop it first\n")
        withExtendedLifetime(lock) {}
    }

    @Test(arguments: [
        ["list", "--state", "odd"], ["list", "-n0"], ["retry"], ["retry", "x"], ["drop", "1", "--all"], ["show"], [],
        ["list", "-p", "a", "--state-directory", "b"], ["drop", "--all", "-p", "a", "--state-directory", "b"],
    ])
    func refusesWhatItDoesNotKnow(words: [String]) throws {
        let result = try Tool().start(["inbox"] + words).waitForExit()
        #expect(result.exit == 64)
        #expect(result.output == "")
    }

    @Test(arguments: [["list"], ["stats"], ["retry", "--all"], ["drop", "1"]])
    func makesNoInboxWhereThereIsNone(words: [String]) throws {
        let tool = try Tool()
        let result = try tool.start(["inbox"] + words + ["--state-directory", tool.home.path]).waitForExit()
        #expect(result.exit == 66)
        #expect(result.error.hasPrefix("kii-push: there is no inbox at \(tool.home.path)/inbox.sqlite: "))
        #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/inbox.sqlite"))
    }
}
