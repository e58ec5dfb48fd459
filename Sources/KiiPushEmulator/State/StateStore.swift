import CSQLite
import KiiPushCore

/// The cloud's state on disk: one row a record, as JSON. Used by one thread at a time.
final class StateStore {
    /// The layout of the file; a file with a higher number is of a later version and is refused.
    private static let version: Int32 = 1

    private let database: OpaquePointer
    /// What runs with every change, compiled at its first use.
    private var compiled: [String: OpaquePointer] = [:]

    /// Opens or makes the database at `path`.
    init(path: String) throws(EmulatorError) {
        // SQLite makes files that others may read; the log beside it takes its mode from this one.
        try Files.touch(path)
        var database: OpaquePointer?
        let code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK, let database else {
            sqlite3_close_v2(database)
            throw EmulatorError(.stateUnusable, "cannot open \(path): \(String(cString: sqlite3_errstr(code)))")
        }
        self.database = database
        sqlite3_extended_result_codes(database, 1)
        try self.run("PRAGMA journal_mode = WAL")
        try self.run("PRAGMA synchronous = FULL")
        guard try self.storedVersion() <= StateStore.version else {
            throw EmulatorError(.stateUnusable, "\(path) was written by a later version")
        }
        try self.run("PRAGMA user_version = \(StateStore.version)")
        try self.run(
            "CREATE TABLE IF NOT EXISTS record (kind TEXT, key TEXT, value BLOB NOT NULL, PRIMARY KEY (kind, key))"
                + " WITHOUT ROWID"
        )
    }

    deinit {
        for statement in self.compiled.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(self.database)
    }

    /// Writes all of `changes` or nothing.
    func apply(_ changes: [StateChange]) throws(EmulatorError) {
        guard !changes.isEmpty else { return }
        try self.step("BEGIN IMMEDIATE")
        do throws(EmulatorError) {
            for change in changes { try self.apply(change) }
            try self.step("COMMIT")
        } catch {
            // The first error is the one to report; after a failed COMMIT there may be nothing to roll back.
            sqlite3_exec(self.database, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    func forEach(_ body: (_ table: String, _ key: String, JSONValue) throws(EmulatorError) -> Void)
        throws(EmulatorError)
    {
        let statement = try self.prepare("SELECT kind, key, value FROM record ORDER BY kind, key")
        defer { sqlite3_finalize(statement) }
        while true {
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                guard code == SQLITE_DONE else { throw self.failure("read the state") }
                return
            }
            let table = StateStore.text(statement, 0)
            let key = StateStore.text(statement, 1)
            let value: JSONValue
            do throws(JSONError) {
                value = try JSONValue(parsing: StateStore.blob(statement, 2))
            } catch {
                throw EmulatorError(.stateUnusable, "the stored \(table) \(key) is damaged: \(error)")
            }
            try body(table, key, value)
        }
    }

    private func apply(_ change: StateChange) throws(EmulatorError) {
        switch change {
        case .save(let table, let key, let value):
            let bytes = value.serialized()
            try self.step("INSERT OR REPLACE INTO record VALUES (?1, ?2, ?3)", table, key) { statement in
                bytes.withUnsafeBytes { csqlite_bind_blob(statement, 3, $0.baseAddress, Int32($0.count)) }
            }
        case .remove(let table, let key):
            try self.step("DELETE FROM record WHERE kind = ?1 AND key = ?2", table, key) { _ in SQLITE_OK }
        case .removeAll:
            try self.run("DELETE FROM record WHERE kind <> '\(EmulatorState.table)'")
        }
    }

    private func storedVersion() throws(EmulatorError) -> Int32 {
        let statement = try self.prepare("PRAGMA user_version")
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw self.failure("read the state's version") }
        return sqlite3_column_int(statement, 0)
    }

    private func run(_ sql: String) throws(EmulatorError) {
        guard sqlite3_exec(self.database, sql, nil, nil, nil) == SQLITE_OK else { throw self.failure("run \(sql)") }
    }

    /// Runs a statement about one row, or with no table about none.
    private func step(
        _ sql: String, _ table: String? = nil, _ key: String = "",
        binding rest: (OpaquePointer) -> Int32 = { _ in SQLITE_OK }
    ) throws(EmulatorError) {
        let statement: OpaquePointer
        if let known = self.compiled[sql] {
            statement = known
        } else {
            statement = try self.prepare(sql)
            self.compiled[sql] = statement
        }
        // The code that sqlite3_reset returns repeats the error of the step, which is looked at here.
        defer { sqlite3_reset(statement) }
        if let table {
            guard csqlite_bind_text(statement, 1, table, Int32(table.utf8.count)) == SQLITE_OK,
                csqlite_bind_text(statement, 2, key, Int32(key.utf8.count)) == SQLITE_OK,
                rest(statement) == SQLITE_OK
            else { throw self.failure("write the state") }
        }
        guard sqlite3_step(statement) == SQLITE_DONE else { throw self.failure("write the state") }
    }

    private func prepare(_ sql: String) throws(EmulatorError) -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(self.database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw self.failure("prepare \(sql)")
        }
        return statement
    }

    private func failure(_ action: String) -> EmulatorError {
        EmulatorError(.stateUnusable, "cannot \(action): \(String(cString: sqlite3_errmsg(self.database)))")
    }

    private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        String(decoding: StateStore.blob(statement, column), as: UTF8.self)
    }

    private static func blob(_ statement: OpaquePointer, _ column: Int32) -> [UInt8] {
        // The pointer first: asking for it converts the column, and the count follows that.
        let start = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
