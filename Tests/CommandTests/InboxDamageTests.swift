import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct InboxDamageTests {
    private static let time = ["--timeout", "600s"]

    /// A profile with an inbox of 60 waiting messages, and a mark that records them.
    private func session() throws -> (session: EmulatorSession, path: String) {
        let session = try EmulatorSession()
        try session.succeed("register")
        let path = Self.path(session.tool)
        do {
            let inbox = try Inbox(path: path)
            try Self.fill(inbox, 60)
        }
        // Every command that opens the inbox updates the mark.
        #expect(try session.tool("inbox", "retry", "1000").exit == 66)
        return (session, path)
    }

    private static func path(_ tool: Tool) -> String {
        tool.home.path + "/state/kii-push/profiles/default/inbox.sqlite"
    }

    private static func directory(_ tool: Tool) -> String { String(Self.path(tool).dropLast("/inbox.sqlite".count)) }

    private static func fill(_ inbox: Inbox, _ count: Int) throws {
        let padding = String(repeating: "x", count: 400)
        try inbox.transaction { transaction throws(InboxError) in
            let key = try transaction.installation(id: "installation-1")
            for number in 1...count {
                try transaction.insert(
                    StoredMessage(
                        installation: key, topic: "topic-1",
                        payload: Array("{\"n\":\(number),\"p\":\"\(padding)\"}".utf8),
                        packetID: UInt16(number), receivedAt: .now(), state: .waiting))
            }
        }
    }

    private func doctor(_ session: EmulatorSession) throws -> Report {
        try Report(session.tool.start(["doctor", "--json", "--no-round-trip"] + Self.time).waitForExit())
    }

    private func stats(_ session: EmulatorSession) throws -> (result: Tool.Result, counts: JSONValue) {
        let result = try session.tool("inbox", "stats", "--json")
        return (result, (try? JSONValue(parsing: Array(result.output.utf8))) ?? .null)
    }

    @Test func aDamagedPageIsToldByEveryCommand() throws {
        let (session, path) = try self.session()
        var bytes = try Data(contentsOf: URL(filePath: path))
        let page = try #require(bytes.range(of: Data("{\"n\":30,".utf8))).lowerBound / 4096
        bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
        try bytes.write(to: URL(filePath: path))

        let before = try self.stats(session)
        #expect(before.result.exit == 74 && before.result.error.contains("inbox.sqlite cannot be read"))
        #expect(try self.doctor(session).check("INBOX")?["outcome"] == "failed")

        let listener = try session.ready(["listen"])
        let told = listener.error(containing: "inbox damaged")
        #expect(told.contains("inbox.sqlite.damaged-") && told.contains(" lost"), "\(told)")
        listener.stop()

        let after = try self.stats(session)
        let lost = try #require(after.counts["lost"]?.int64)
        #expect(after.result.exit == 0 && lost > 0 && after.counts["expired"] == 0 && after.counts["unaccounted"] == 0)
        #expect(told.contains(", \(lost) lost"))
        // The report repeats until a person confirms the loss. The other checks still run.
        let report = try self.doctor(session)
        #expect(report.firstFailure == "INBOX" && report.exit == 74)
        #expect(report.check("INBOX")?["evidence"]?.string?.contains("\(lost) messages are lost") == true)
        #expect(report.check("SUBACK")?["outcome"] == "ok")
        let directory = session.tool.home.path + "/state/kii-push/profiles/default/"
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) where name.contains(".damaged-") {
            try FileManager.default.removeItem(atPath: directory + name)
        }
        #expect(try self.doctor(session).exit == 0)
    }

    @Test func aFileThatIsGoneIsToldByEveryCommand() throws {
        let (session, path) = try self.session()
        try FileManager.default.removeItem(atPath: path)
        let before = try self.stats(session)
        #expect(before.result.exit == 74 && before.result.error.contains("60 open messages"), "\(before.result.error)")
        let check = try #require(try self.doctor(session).check("INBOX"))
        #expect(check["outcome"] == "failed" && check["evidence"]?.string?.contains("60 open messages") == true)
        let listener = try session.ready(["listen"])
        #expect(listener.error(containing: "inbox damaged").contains(", 60 lost"))
        listener.stop()
        #expect(try self.stats(session).counts["lost"] == 60)
        #expect(try self.doctor(session).check("INBOX")?["outcome"] == "failed")
    }

    // MARK: - Numbers from outside

    /// Values that no version of this program writes.
    private static let oddities: [String] =
        [Int64.max, .min].flatMap { number in
            let value = number < 0 ? "-9223372036854775807 - 1" : "\(number)"
            let counts = ["last_sequence", "received", "duplicates", "pruned", "expired", "lost", "rows0", "bytes0"]
            let columns = [
                "attempts", "crashes", "events", "next_attempt_ms", "updated_ms", "received_ms", "qos", "packet_id",
                "connection",
                "original_length", "stored_after", "acknowledged_after", "started_after", "answer",
            ]
            return counts.map { "UPDATE ledger SET \($0) = \(value)" } + [
                "UPDATE ledger SET rows0 = \(value), rows1 = \(value), bytes0 = \(value), bytes1 = \(value)",
                "UPDATE message SET " + columns.map { "\($0) = \(value)" }.joined(separator: ", "),
                "UPDATE message SET bytes = \(value)", "UPDATE message SET state = \(value)",
                "UPDATE message SET installation = \(value)",
                "UPDATE message SET sequence = \(value) WHERE sequence = 3",
                "UPDATE installation SET proven_sequence = \(value)",
                """
                UPDATE message SET state = 5, events = 2;
                INSERT INTO event SELECT sequence, 1, \(value), 14, \(value), \(value), \(value), 'x' FROM message;
                INSERT INTO event SELECT sequence, \(value), 1, \(value), 1, 1, 1, 'x' FROM message
                """,
            ]
        }

    @Test(arguments: oddities) func oddNumbersEndNoProcess(change: String) async throws {
        let tool = try Tool()
        let path = Self.path(tool)
        try FileManager.default.createDirectory(
            atPath: String(path.dropLast("/inbox.sqlite".count)), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        do {
            try Self.fill(try Inbox(path: path), 5)
            try SQLiteFile(path, for: .changing).execute(change)
        }
        let states = ["waiting", "running", "retry", "presented", "done", "dead"].flatMap { ["--state", $0] }
        let commands = [
            ["inbox", "stats"], ["inbox", "list", "--json"] + states, ["trace", "3"], ["inbox", "retry", "--all"],
            ["inbox", "retry", "3"], ["inbox", "drop", "4"], ["inbox", "list"] + states, ["inbox", "stats"],
        ]
        for words in commands {
            let result = try tool.start(words + ["--state-directory", Self.directory(tool)]).waitForExit()
            #expect([0, 66, 74].contains(result.exit), "\(words): \(result.exit) \(result.error)")
        }
        let report = try tool.start(["doctor", "--json", "--base-url", "http://127.0.0.1:1", "--app-id", "a"])
            .waitForExit()
        #expect((64...78).contains(report.exit), "\(report.exit) \(report.error)")
        try await Self.expectBalanced(path)
    }

    /// A view may never end, and a trigger may do anything.
    @Test func whatIsNoTableIsRefused() async throws {
        let tool = try Tool()
        let path = Self.path(tool)
        try FileManager.default.createDirectory(
            atPath: String(path.dropLast("/inbox.sqlite".count)), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        do { try Self.fill(try Inbox(path: path), 5) }
        try await Self.expectBalanced(path)
        let columns = try SQLiteFile(path, for: .reading).texts("SELECT name FROM pragma_table_info('message')")
        let values = columns.map { $0 == "sequence" ? "x AS sequence" : "1 AS \($0)" }.joined(separator: ", ")
        try SQLiteFile(path, for: .changing).execute(
            """
            DROP TABLE message;
            CREATE VIEW message AS WITH RECURSIVE numbers (x) AS (SELECT 1 UNION ALL SELECT x - 1 FROM numbers)
                SELECT \(values) FROM numbers;
            """)
        for words in [["inbox", "list"], ["inbox", "stats"], ["trace", "1"]] {
            let result = try tool.start(words + ["--state-directory", Self.directory(tool)]).waitForExit()
            #expect(result.exit == 74 && result.error.contains("cannot be read"), "\(words): \(result)")
        }
        // An agent moves the file aside and continues.
        let ledger = try await Self.expectBalanced(path)
        #expect(ledger.lost == 5 && ledger.waiting == 0, "\(ledger)")
    }

    @discardableResult
    private static func expectBalanced(_ path: String) async throws -> MessageLedger {
        let directory = String(path.dropLast("/inbox.sqlite".count))
        let runtime = try PushRuntime(configuration: .init(stateDirectory: directory))
        let ledger = try await runtime.ledger()
        await runtime.shutdown()
        #expect(ledger.isBalanced, "\(ledger)")
        #expect(try InboxReader(stateDirectory: directory).ledger() == ledger)
        return ledger
    }
}
