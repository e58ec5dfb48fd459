import CSQLite

enum InboxSchema {
    static let version: Int64 = 1
    /// `PRAGMA application_id`: "KiiP". Other databases have other IDs.
    static let applicationID: Int64 = 0x4B69_6950
    /// The years 1970 to 9999, in milliseconds. Times read from a file are clamped to this range.
    static let calendar: ClosedRange<Int64> = 0...253_402_300_799_999

    /// The most events of a message, so that endless redeliveries by a broker cannot fill the disk.
    static let eventLimit: Int64 = 256
    /// The values of the column `events`; 257 if further events were not written.
    static let eventCounts: ClosedRange<Int64> = 0...257
    /// The installation of rows whose own installation was unreadable in a damaged file. No installation has this key.
    static let unknownInstallation: Int64 = 0

    private static let tables = """
        CREATE TABLE installation (
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            proven_sequence INTEGER NOT NULL DEFAULT 0,
            -- Whose it is, as InboxOwner has it; NULL where no agent has said so yet.
            site TEXT, app TEXT, principal TEXT,
            -- The key of the installation that handles the messages of this one in its place.
            adopter INTEGER
        );
        CREATE INDEX installation_owner ON installation (principal);
        CREATE INDEX installation_adopter ON installation (adopter) WHERE adopter IS NOT NULL;
        CREATE TABLE message (
            sequence INTEGER PRIMARY KEY,
            installation INTEGER NOT NULL, state INTEGER NOT NULL, bytes INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0,
            -- How many rows of its own the table event was given; one more than there may be when it was given no more.
            events INTEGER NOT NULL DEFAULT 0,
            next_attempt_ms INTEGER, updated_ms INTEGER NOT NULL, received_ms INTEGER NOT NULL,
            qos INTEGER NOT NULL, duplicate INTEGER NOT NULL, retain INTEGER NOT NULL, packet_id INTEGER,
            connection INTEGER NOT NULL, original_length INTEGER, reason TEXT,
            topic TEXT NOT NULL, payload BLOB NOT NULL,
            -- Milliseconds after received_ms. Mostly 0 or 1, which take no room, or else a byte.
            stored_after INTEGER, acknowledged_after INTEGER,
            -- Of a done row: when the attempt that succeeded started, and its answer.
            started_after INTEGER, answer INTEGER,
            -- What the user chose on the notification that showed it, as UserAction writes it; NULL before.
            opened TEXT,
            -- The number of the source, as SourceKey has it; NULL of a message that no handler is to see, and of one that
            -- waits for the next run of its agent.
            source INTEGER
        );
        -- Partial: done rows, the many, are in no index.
        CREATE INDEX message_open ON message (installation, state, sequence) WHERE state < 4;
        CREATE INDEX message_retry ON message (installation, next_attempt_ms) WHERE state = 2;
        CREATE INDEX message_dead ON message (sequence) WHERE state = 5;
        -- What waits, by source: messages of one source start in order.
        CREATE INDEX message_waiting ON message (installation, source, sequence) WHERE state = 0;
        -- What else happened to messages: an ordinary success is in columns of message, and adds nothing here.
        CREATE TABLE event (
            -- A message's events have the numbers 1, 2, and so on.
            message INTEGER NOT NULL, number INTEGER NOT NULL, at_ms INTEGER NOT NULL,
            -- The parts of a MessageEvent.Kind, and when the attempt started.
            kind INTEGER NOT NULL, attempt INTEGER, started_ms INTEGER, pause_ms INTEGER, detail TEXT,
            PRIMARY KEY (message, number)
        ) WITHOUT ROWID;
        -- One row: the last sequence given out, rows and bytes by state, and what is counted for good.
        CREATE TABLE ledger (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            last_sequence INTEGER NOT NULL,
            rows0 INTEGER NOT NULL, rows1 INTEGER NOT NULL, rows2 INTEGER NOT NULL,
            rows3 INTEGER NOT NULL, rows4 INTEGER NOT NULL, rows5 INTEGER NOT NULL,
            bytes0 INTEGER NOT NULL, bytes1 INTEGER NOT NULL, bytes2 INTEGER NOT NULL,
            bytes3 INTEGER NOT NULL, bytes4 INTEGER NOT NULL, bytes5 INTEGER NOT NULL,
            received INTEGER NOT NULL DEFAULT 0, duplicates INTEGER NOT NULL DEFAULT 0,
            pruned INTEGER NOT NULL DEFAULT 0, expired INTEGER NOT NULL DEFAULT 0,
            lost INTEGER NOT NULL DEFAULT 0, dropped INTEGER NOT NULL DEFAULT 0
        );
        INSERT INTO ledger (id, last_sequence, rows0, rows1, rows2, rows3, rows4, rows5,
            bytes0, bytes1, bytes2, bytes3, bytes4, bytes5) VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        -- What became of damaged files, until an agent has told it.
        CREATE TABLE notice (path TEXT NOT NULL, reason TEXT NOT NULL, taken_over INTEGER NOT NULL, lost INTEGER);
        """

    static func open(_ connection: SQLiteConnection, isReadOnly: Bool) throws(InboxError) {
        guard !isReadOnly else { return try self.check(connection) }
        guard try self.isNew(connection) else { return try self.requireTables(connection) }
        try connection.execute("BEGIN IMMEDIATE", step: "making the tables")
        do throws(InboxError) {
            // Another process may just have created the tables.
            if try self.isNew(connection) {
                let step = "making the tables"
                try connection.execute(self.tables, step: step)
                try connection.execute("PRAGMA application_id = \(self.applicationID)", step: step)
                try connection.execute("PRAGMA user_version = \(self.version)", step: step)
            } else {
                try self.requireTables(connection)
            }
            try connection.execute("COMMIT", step: "making the tables")
        } catch {
            if !connection.isAutocommit { try? connection.execute("ROLLBACK", step: "rolling back") }
            throw error
        }
    }

    /// One transaction, since another process may be creating the file.
    private static func check(_ connection: SQLiteConnection) throws(InboxError) {
        try connection.execute("BEGIN", step: "reading the schema")
        defer { try? connection.execute("COMMIT", step: "reading the schema") }
        guard try self.isNew(connection) else { return try self.requireTables(connection) }
        throw InboxError(.notMade, step: "recognising the file as an inbox")
    }

    /// Throws if the file has another version or is no inbox.
    static func isNew(_ connection: SQLiteConnection) throws(InboxError) -> Bool {
        let version = try connection.integer("PRAGMA user_version", step: "reading the schema version") ?? 0
        let application = try connection.integer("PRAGMA application_id", step: "reading the file's kind") ?? 0
        if application == self.applicationID, version >= self.version {
            guard version == self.version else {
                throw InboxError(.newerVersion(Int(version)), step: "reading a file of a newer version")
            }
            return false
        }
        let objects = try connection.integer("SELECT count(*) FROM sqlite_schema", step: "reading the schema") ?? 0
        guard version == 0, application == 0, objects == 0
        else { throw InboxError(.corrupt, step: "recognising the file as an inbox") }
        return true
    }

    /// Throws if a table or an index is missing or differs from this version's: statements could fail later, and a view
    /// in place of a table could run for ever. Other objects in the file are allowed.
    private static func requireTables(_ connection: SQLiteConnection) throws(InboxError) {
        let fresh = try Inbox.emptyDatabase()
        try fresh.execute(self.tables, step: "making the tables")
        guard try self.objects(of: fresh).isSubset(of: self.objects(of: connection))
        else { throw InboxError(.corrupt, step: "looking for the inbox's tables") }
    }

    /// The SQL of tables and indexes, without comments and indentation, which differ between builds.
    private static func objects(of connection: SQLiteConnection) throws(InboxError) -> Set<[String]> {
        let schema = SQLiteStatement(
            connection, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE rootpage > 0",
            step: "reading the schema")
        return Set(try schema.all { row in (0..<4).map { self.bare(row.text(Int32($0)) ?? "") } })
    }

    private static func bare(_ sql: String) -> String {
        // Bytes, since every start runs this: with Characters it took a sixth of a start's CPU time.
        let words = sql.utf8.split(separator: UInt8(ascii: "\n")).flatMap { line in
            line.split(separator: UInt8(ascii: " ")).prefix { !$0.starts(with: "--".utf8) }
        }
        return words.map { String(Substring($0)) }.joined(separator: " ")
    }
}
