import Foundation
import KiiPushCore
import TestSupport
import Testing

/// Files of format version 3, as the library made them.
@Suite struct InboxMigrationTests {
    @Test func bringsAFileUpToDateWithoutLosingAMessage() throws {
        let fixture = try InboxFixture()
        try self.makeVersion3(at: fixture.path)
        var inbox = try fixture.open()
        let expected = MessageLedger(received: 10, waiting: 2, running: 1, presented: 1, done: 5, dead: 1)
        #expect(inbox.messageLedger == expected)
        #expect(expected.isBalanced)
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
        #expect(try inbox.row(7)?.openedBy == "later")
        let row = try #require(try inbox.row(4))
        #expect(row.state == .retry)
        #expect(row.attempts == 2)
        #expect(row.crashes == 1)
        #expect(row.nextAttempt == .at(2000))
        #expect(row.updatedAt == .at(1500))
        #expect(row.message.payload == [1, 2, 3])
        #expect(row.message.packetID == 7)
        #expect(row.message.reason == "timedOut")
        #expect(try inbox.unproven(installation: 1).map(\.sequence) == [4, 5, 6, 7, 8, 9, 10])
        // Whose it is is not known before an agent has looked at it.
        #expect(try inbox.rowsOfNoSource(installation: 1, after: 0, limit: 10).map(\.sequence) == [5])
        #expect(try inbox.sources(installation: 1, after: nil, limit: 10) == [])
        #expect(try inbox.insert([.sample()]) == [11])
        try inbox.update(RowChange(sequence: 4, state: .done))
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
        // What happened to a message before is not taken over, and said to be missing. From now on it is recorded.
        #expect(try inbox.record(8)?.missing.contains(.laterEvents) == true)
        #expect(try inbox.record(11)?.missing.contains(.laterEvents) == false)
        try inbox.transaction { transaction throws(InboxError) in
            for sequence in [8, 11] as [Int64] { try transaction.absorb(into: sequence, at: .at(3000)) }
        }
        for sequence in [8, 11] as [Int64] {
            #expect(try inbox.record(sequence)?.events.last?.kind == .duplicate)
            #expect(try inbox.record(sequence)?.missing.contains(.laterEvents) == (sequence == 8))
        }
        let ledger = inbox.messageLedger
        inbox = try fixture.open()
        #expect(inbox.messageLedger == ledger)
    }

    @Test func makesTheSameTablesAsANewFile() throws {
        let (old, new) = (try InboxFixture(), try InboxFixture())
        try self.makeVersion3(at: old.path)
        _ = try old.open()
        _ = try new.open()
        let (left, right) = (
            try SQLiteFile(old.path, for: .reading), try SQLiteFile(new.path, for: .reading)
        )
        for table in ["message", "event", "ledger", "installation", "notice"] {
            // What an older version wrote of a message's life stays, and is not read.
            let columns = "SELECT name FROM pragma_table_info('\(table)') WHERE name <> 'trail' ORDER BY name"
            #expect(try left.texts(columns) == right.texts(columns))
        }
        let indexes = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL ORDER BY name"
        #expect(try left.texts(indexes) == right.texts(indexes))
        for file in [left, right] {
            #expect(try file.integer("PRAGMA user_version") == 5)
            #expect(try file.integer("PRAGMA application_id") == 0x4B69_6950)
        }
    }

    @Test func leavesTheFileAsItIsWhenItCannotBeBroughtUpToDate() throws {
        let fixture = try InboxFixture()
        try self.makeVersion3(at: fixture.path)
        // A column that the second step adds is there already: the first must not happen either.
        try SQLiteFile(fixture.path, for: .changing).execute("ALTER TABLE message ADD COLUMN source INTEGER")
        #expect(throws: InboxError.self) { try fixture.open() }
        let file = try SQLiteFile(fixture.path, for: .reading)
        #expect(try file.integer("PRAGMA user_version") == 3)
        #expect(try file.integer("SELECT count(*) FROM pragma_table_info('installation')") == 3)
        #expect(try file.integer("SELECT count(*) FROM message") == 8)
    }

    @Test func onlyReadsNoFileOfAnOlderVersion() throws {
        let fixture = try InboxFixture(name: "inbox.sqlite")
        try self.makeVersion3(at: fixture.path)
        let error = #expect(throws: InboxReadingError.self) { try InboxReader(stateDirectory: fixture.directory) }
        #expect(error == .olderVersion(path: fixture.path, version: 3))
        #expect(error?.description.contains("started once") == true)
        _ = try fixture.open()
        #expect(try InboxReader(stateDirectory: fixture.directory).ledger().received == 10)
        try SQLiteFile(fixture.path, for: .changing).execute("PRAGMA user_version = 6")
        let newer = #expect(throws: InboxReadingError.self) { try InboxReader(stateDirectory: fixture.directory) }
        #expect(newer == .newerVersion(path: fixture.path, version: 6))
    }

    private func makeVersion3(at path: String) throws {
        let file = try SQLiteFile(path, for: .creating)
        try file.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        try file.execute(
            """
            CREATE TABLE installation (
                key INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                proven_sequence INTEGER NOT NULL DEFAULT 0
            );
            CREATE TABLE message (
                sequence INTEGER PRIMARY KEY,
                installation INTEGER NOT NULL,
                state INTEGER NOT NULL,
                bytes INTEGER NOT NULL,
                attempts INTEGER NOT NULL DEFAULT 0,
                crashes INTEGER NOT NULL DEFAULT 0,
                next_attempt_ms INTEGER,
                updated_ms INTEGER NOT NULL,
                received_ms INTEGER NOT NULL,
                qos INTEGER NOT NULL,
                duplicate INTEGER NOT NULL,
                retain INTEGER NOT NULL,
                packet_id INTEGER,
                connection INTEGER NOT NULL,
                original_length INTEGER,
                reason TEXT,
                topic TEXT NOT NULL,
                payload BLOB NOT NULL,
                stored_after INTEGER,
                acknowledged_after INTEGER,
                started_after INTEGER,
                answer INTEGER,
                trail TEXT,
                opened TEXT
            );
            CREATE INDEX message_open ON message (installation, state, sequence) WHERE state < 4;
            CREATE INDEX message_retry ON message (installation, next_attempt_ms) WHERE state = 2;
            CREATE INDEX message_dead ON message (sequence) WHERE state = 5;
            CREATE TABLE ledger (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                last_sequence INTEGER NOT NULL,
                rows0 INTEGER NOT NULL, rows1 INTEGER NOT NULL, rows2 INTEGER NOT NULL,
                rows3 INTEGER NOT NULL, rows4 INTEGER NOT NULL, rows5 INTEGER NOT NULL,
                bytes0 INTEGER NOT NULL, bytes1 INTEGER NOT NULL, bytes2 INTEGER NOT NULL,
                bytes3 INTEGER NOT NULL, bytes4 INTEGER NOT NULL, bytes5 INTEGER NOT NULL,
                received INTEGER NOT NULL DEFAULT 0,
                duplicates INTEGER NOT NULL DEFAULT 0,
                pruned INTEGER NOT NULL DEFAULT 0,
                expired INTEGER NOT NULL DEFAULT 0
            );
            INSERT INTO ledger VALUES (1, 10, 1, 1, 1, 1, 3, 1, 72, 72, 72, 72, 216, 72, 10, 0, 2, 0);
            INSERT INTO installation (id) VALUES ('inst-1');
            INSERT INTO message (sequence, installation, state, bytes, attempts, crashes, next_attempt_ms, updated_ms,
                received_ms, qos, duplicate, retain, packet_id, connection, original_length, reason, topic, payload) VALUES
                (3, 1, 4, 72, 0, 0, NULL, 1500000, 1000000, 0, 0, 0, NULL, 9, NULL, NULL, 'topic', x'010203'),
                (4, 1, 2, 72, 2, 1, 2000000, 1500000, 1000000, 1, 0, 0, 7, 9, NULL, 'timedOut', 'topic', x'010203'),
                (5, 1, 0, 72, 0, 0, NULL, 1000000, 1000000, 1, 0, 0, 8, 9, NULL, NULL, 'topic', x'010203'),
                (6, 1, 1, 72, 0, 0, NULL, 1000000, 1000000, 1, 0, 0, 9, 9, NULL, NULL, 'topic', x'010203'),
                (7, 1, 3, 72, 0, 0, NULL, 1000000, 1000000, 1, 0, 0, 10, 9, NULL, NULL, 'topic', x'010203'),
                (8, 1, 5, 72, 6, 0, NULL, 1000000, 1000000, 1, 0, 0, 11, 9, NULL, 'failed', 'topic', x'010203'),
                (9, 1, 4, 72, 0, 0, NULL, 1500000, 1000000, 1, 0, 0, 12, 9, NULL, NULL, 'topic', x'010203'),
                (10, 1, 4, 72, 0, 0, NULL, 1500000, 1000000, 1, 0, 0, 13, 9, NULL, NULL, 'topic', x'010203');
            UPDATE message SET opened = 'later' WHERE sequence = 7;
            PRAGMA application_id = 0x4B696950;
            PRAGMA user_version = 3;
            """)
    }
}
