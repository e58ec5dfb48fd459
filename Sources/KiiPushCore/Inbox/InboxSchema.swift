import CSQLite

/// The file's layout, and whether a file has it.
enum InboxSchema {
    /// `PRAGMA user_version` of the files that this library writes.
    static let version: Int64 = 1
    /// `PRAGMA application_id`: "KiiP". It tells an inbox from anybody else's database.
    static let applicationID: Int64 = 0x4B69_6950

    /// The columns of a row, small ones first, so that a scan does not touch the pages of long payloads.
    static let columns = """
        sequence, installation, state, attempts, crashes, next_attempt_ms, updated_ms, received_ms, qos, duplicate, \
        retain, packet_id, connection, original_length, reason, topic, payload
        """

    private static let tables = """
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
            payload BLOB NOT NULL
        );
        -- Partial: done rows, the many, are in no index.
        CREATE INDEX message_open ON message (installation, state, sequence) WHERE state < 4;
        CREATE INDEX message_retry ON message (installation, next_attempt_ms) WHERE state = 2;
        CREATE INDEX message_dead ON message (sequence) WHERE state = 5;
        -- One row: the last sequence given out, and rows and bytes by state.
        CREATE TABLE ledger (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            last_sequence INTEGER NOT NULL,
            rows0 INTEGER NOT NULL, rows1 INTEGER NOT NULL, rows2 INTEGER NOT NULL,
            rows3 INTEGER NOT NULL, rows4 INTEGER NOT NULL, rows5 INTEGER NOT NULL,
            bytes0 INTEGER NOT NULL, bytes1 INTEGER NOT NULL, bytes2 INTEGER NOT NULL,
            bytes3 INTEGER NOT NULL, bytes4 INTEGER NOT NULL, bytes5 INTEGER NOT NULL
        );
        INSERT INTO ledger VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        """

    /// Makes the tables in an empty file, or checks that the file is an inbox of this version.
    static func open(_ connection: SQLiteConnection, isReadOnly: Bool) throws(InboxError) {
        let version = try connection.integer("PRAGMA user_version", step: "reading the schema version") ?? 0
        let application = try connection.integer("PRAGMA application_id", step: "reading the file's kind") ?? 0
        if version > self.version, application == self.applicationID {
            throw InboxError(.newerVersion(Int(version)), step: "reading a file of a newer version")
        }
        if version == self.version, application == self.applicationID { return }
        let objects = try connection.integer("SELECT count(*) FROM sqlite_schema", step: "reading the schema") ?? 0
        guard version == 0, application == 0, objects == 0, !isReadOnly else {
            throw InboxError(.corrupt, step: "recognising the file as an inbox")
        }
        try connection.execute(
            """
            BEGIN IMMEDIATE;
            \(self.tables)
            PRAGMA application_id = \(self.applicationID);
            PRAGMA user_version = \(self.version);
            COMMIT;
            """,
            step: "making the tables"
        )
    }
}
