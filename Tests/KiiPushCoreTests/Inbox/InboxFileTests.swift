import Foundation
import Glibc
import KiiPushCore
import TestSupport
import Testing

@Suite struct InboxFileTests {
    @Test func isReadableByItsOwnerAlone() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        try inbox.insert([.sample()])
        for suffix in ["", "-wal", "-shm"] { #expect(try fixture.mode(of: fixture.path + suffix) == 0o600) }
        #expect(try fixture.mode(of: fixture.directory) == 0o755)
        withExtendedLifetime(inbox) {}
    }

    @Test(arguments: ["link", "pipe", "folder"], [true, false])
    func isAFileAndNothingElse(obstacle: String, isReadOnly: Bool) throws {
        let fixture = try InboxFixture()
        switch obstacle {
        case "link":
            try Data("kept".utf8).write(to: URL(fileURLWithPath: fixture.directory + "/target"))
            try FileManager.default.createSymbolicLink(
                atPath: fixture.path, withDestinationPath: fixture.directory + "/target")
        case "pipe": try #require(mkfifo(fixture.path, 0o600) == 0)
        default: try #require(mkdir(fixture.path, 0o700) == 0)
        }
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = isReadOnly
        let error = #expect(throws: InboxError.self) {
            _ = try Inbox(path: fixture.path, configuration: configuration)
        }
        #expect(error?.kind == .notAFile)
        if obstacle == "link" {
            #expect(try String(contentsOfFile: fixture.directory + "/target", encoding: .utf8) == "kept")
        }
    }

    @Test func takesAwayTheRightsOfOthers() throws {
        let fixture = try InboxFixture()
        _ = try fixture.open()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: fixture.path)
        _ = try fixture.open()
        #expect(try fixture.mode(of: fixture.path) == 0o600)
    }

    @Test func isReadByAnotherProcessWhileItIsHeld() async throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        try inbox.insert([.sample(), .sample()])
        let path = fixture.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            var configuration = Inbox.Configuration()
            configuration.isReadOnly = true
            let inbox = try Inbox(path: path, configuration: configuration)
            guard try inbox.rows(.inHand, limit: 9).count == 2 else { exit(1) }
            let error = #expect(throws: InboxError.self) { try inbox.insert([.sample()]) }
            exit(error?.kind == .notPermitted ? 0 : 2)
        }
        #expect(try inbox.insert([.sample()]) == [3])
    }

    /// A killed process leaves its log to the next owner.
    @Test func whoOnlyReadsLeavesTheLogAsItIs() throws {
        let fixture = try InboxFixture(name: "inbox.sqlite")
        let inbox = try fixture.open()
        try inbox.insert([.sample(), .sample()])
        let killed = try InboxFixture(name: "inbox.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: killed.path + suffix)
        }
        withExtendedLifetime(inbox) {}
        let contents = { try ["", "-wal"].map { try Data(contentsOf: URL(filePath: killed.path + $0)) } }
        let before = try contents()
        #expect(before[1].count > 4096)
        do {
            let reader = try InboxReader(stateDirectory: killed.directory)
            try reader.verify()
            #expect(try reader.ledger().received == 2)
        }
        #expect(try contents() == before)
    }

    /// A reader finds an empty file while the owner creates the inbox for the first time.
    @Test func anEmptyFileIsNotMadeYetAndNotDamaged() throws {
        let fixture = try InboxFixture(name: "inbox.sqlite")
        #expect(FileManager.default.createFile(atPath: fixture.path, contents: nil))
        let error = #expect(throws: InboxAccessError.self) { try InboxReader(stateDirectory: fixture.directory) }
        #expect(error == .missing(path: fixture.path))
        _ = try fixture.open()
        _ = try fixture.open { $0.isReadOnly = true }
    }

    /// A reader finds a journal that SQLite must roll back, because the creation of the file was interrupted.
    @Test func aFileThatIsHalfMadeIsNotMadeYetAndNotDamaged() throws {
        let (fixture, other) = (try InboxFixture(name: "inbox.sqlite"), try InboxFixture(name: "inbox.sqlite"))
        let file = try SQLiteFile(other.path, for: .creating)
        try file.execute(
            "PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (b BLOB); INSERT INTO t VALUES (zeroblob(65536))")
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: other.path + suffix, toPath: fixture.path + suffix)
        }
        let error = #expect(throws: InboxAccessError.self) { try InboxReader(stateDirectory: fixture.directory) }
        #expect(error == .missing(path: fixture.path))
        _ = try fixture.open()
        _ = try fixture.open { $0.isReadOnly = true }
    }

    @Test func saysWhenAnotherWriterHoldsTheFile() throws {
        let fixture = try InboxFixture()
        let first = try fixture.open()
        let second = try fixture.open { $0.busyTimeout = .zero }
        let error = try first.transaction { transaction throws(InboxError) in
            try transaction.insert(.sample())
            return #expect(throws: InboxError.self) { try second.insert([.sample()]) }
        }
        #expect(error?.kind == .locked)
        #expect(try second.insert([.sample()]) == [2])
        #expect(try first.currentCounts()[.inHand].rows == 2)
        #expect(try first.insert([.sample()]) == [3])
        #expect(first.counts[.inHand].rows == 3)
    }

    @Test(arguments: [
        [UInt8]("this is no database, but long enough to be looked at as one of its kind\n".utf8),
        [UInt8]("SQLite format 3\0".utf8) + [UInt8](repeating: 0xFF, count: 5000),
    ])
    func reportsDamagedFilesAndLeavesThemAlone(bytes: [UInt8]) throws {
        let fixture = try InboxFixture()
        try Data(bytes).write(to: URL(filePath: fixture.path))
        let error = #expect(throws: InboxError.self) { try fixture.open() }
        #expect(error?.kind == .corrupt)
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == Data(bytes))
    }

    @Test(arguments: [2, 5, 99] as [UInt32])
    func refusesFilesOfAnotherVersionAndLeavesThemAlone(version: UInt32) throws {
        let fixture = try InboxFixture(name: "inbox.sqlite")
        _ = try fixture.open()
        try fixture.patchHeader(at: 60, version)
        let before = try Data(contentsOf: URL(filePath: fixture.path))
        let error = try #require(#expect(throws: InboxError.self) { try fixture.open() })
        #expect(error.kind == .newerVersion(Int(version)))
        #expect(error.description.contains("newer version"))
        let reading = #expect(throws: InboxAccessError.self) { try InboxReader(stateDirectory: fixture.directory) }
        #expect(reading == .newerVersion(path: fixture.path, version: Int(version)))
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == before)
    }

    /// The file is then moved aside as damaged, and its messages are copied.
    @Test func aFileThatHasTablesAndNoVersionIsDamaged() throws {
        let fixture = try InboxFixture()
        _ = try fixture.open()
        try fixture.patchHeader(at: 60, 0)
        #expect(#expect(throws: InboxError.self) { try fixture.open() }?.kind == .corrupt)
    }

    /// One changed letter would make a statement fail, so that no message could be stored.
    @Test(arguments: [("message_open", "state < 4", "state < 1"), ("message", "qos INTEGER", "qos INTFGER")])
    func aFileWithAnotherSchemaIsDamaged(name: String, text: String, damaged: String) throws {
        let fixture = try InboxFixture()
        _ = try fixture.open()
        try SQLiteFile(fixture.path, for: .changing).execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '\(text)', '\(damaged)') WHERE name = '\(name)'
            """)
        #expect(#expect(throws: InboxError.self) { try fixture.open() }?.kind == .corrupt)
    }

    /// Another build may have created the file, with other comments.
    @Test func aFileWhoseSchemaIsWrittenOtherwiseIsTheSame() throws {
        let fixture = try InboxFixture()
        _ = try fixture.open()
        try SQLiteFile(fixture.path, for: .changing).execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '-- ', '--  more of ') WHERE name IN ('message', 'event')
            """)
        _ = try fixture.open()
    }

    @Test func refusesSomebodyElsesDatabase() throws {
        let fixture = try InboxFixture()
        _ = try fixture.open()
        try fixture.patchHeader(at: 68, 0)
        #expect(#expect(throws: InboxError.self) { try fixture.open() }?.kind == .corrupt)
    }

    @Test func reportsAMissingDirectory() throws {
        let error = #expect(throws: InboxError.self) { try Inbox(path: "/nonexistent/directory/inbox.db") }
        #expect(error?.kind == .cannotOpen)
    }

    @Test func rollsBackWhenTheDiskIsFullAndGoesOnAfterwards() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open { $0.maximumFileBytes = 128 << 10 }
        try inbox.insert([.sample()])
        let before = inbox.counts
        let rows = (0..<100).map { StoredMessage.sample($0, bytes: 4000) }
        let error = #expect(throws: InboxError.self) { try inbox.insert(rows) }
        #expect(error?.kind == .full)
        #expect(error?.advice.contains("disk") == true)
        #expect(inbox.counts == before)
        #expect(try inbox.rows(.inHand, limit: 1000).count == 1)
        #expect(try inbox.insert(Array(rows.prefix(3))) == [2, 3, 4])
        #expect(try fixture.open { $0.maximumFileBytes = 8 << 20 }.insert(rows).count == 100)
    }

    @Test func undoesEverythingWhenTheBodyFails() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        let before = inbox.counts
        #expect(throws: InboxError.self) {
            try inbox.transaction { transaction throws(InboxError) in
                try transaction.insert(.sample())
                try transaction.update(MessageChange(sequence: 1, state: .done), at: .at(5))
                throw InboxError(.io, step: "failing on purpose")
            }
        }
        #expect(inbox.counts == before)
        #expect(try inbox.row(1)?.state == .inHand)
        #expect(try inbox.insert([.sample()]) == [2])
    }

    @Test func errorsNameCodesAndNoContent() throws {
        let error = InboxError(.io, step: "storing a message", extendedCode: 778, systemError: 5)
        #expect(error.code == 10)
        #expect(
            error.description
                == "storing a message failed (SQLite code 10, extended 778, errno 5); check the disk")
    }
}
