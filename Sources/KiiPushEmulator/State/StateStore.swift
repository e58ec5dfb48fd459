import CSQLite
import Glibc
import KiiPushCore

/// The cloud's state in an SQLite file. Used by one thread at a time.
final class StateStore {
    /// A file with a higher version of its layout is refused.
    private static let version: Int32 = 1

    private let database: OpaquePointer
    private var compiled: [String: OpaquePointer] = [:]

    init(path: String) throws(EmulatorError) {
        // SQLite would create a file that others may read. SQLite's write-ahead log gets the mode of this file.
        _ = try EmulatorError.ofFile(OwnFile.open(path, O_RDWR | O_CREAT))
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
        var storedVersion: Int32 = 0
        try self.rows("PRAGMA user_version", "read the state's version") { storedVersion = sqlite3_column_int($0, 0) }
        guard storedVersion <= StateStore.version else {
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

    func apply(_ changes: [StateChange]) throws(EmulatorError) {
        guard !changes.isEmpty else { return }
        try self.rows("BEGIN IMMEDIATE")
        do throws(EmulatorError) {
            for change in changes {
                switch change {
                case .save(let table, let key, let value):
                    let insert = "INSERT OR REPLACE INTO record VALUES (?1, ?2, ?3)"
                    try self.rows(insert, texts: [table, key], blob: value.serialized())
                case .remove(let table, let key):
                    try self.rows("DELETE FROM record WHERE kind = ?1 AND key = ?2", texts: [table, key])
                case .removeAll: try self.run("DELETE FROM record WHERE kind <> '\(EmulatorState.table)'")
                }
            }
            try self.rows("COMMIT")
        } catch {
            // After a failed COMMIT there may be nothing to roll back, so an error of ROLLBACK is ignored.
            sqlite3_exec(self.database, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    func forEach(_ body: (_ table: String, _ key: String, JSONValue) throws(EmulatorError) -> Void)
        throws(EmulatorError)
    {
        let query = "SELECT kind, key, value FROM record ORDER BY kind, key"
        try self.rows(query, "read the state") { (row) throws(EmulatorError) in
            let (table, key) = (StateStore.text(row, 0), StateStore.text(row, 1))
            let value: JSONValue
            do throws(JSONError) {
                value = try JSONValue(parsing: StateStore.blob(row, 2))
            } catch {
                throw EmulatorError(.stateUnusable, "the stored \(table) \(key) is damaged: \(error)")
            }
            try body(table, key, value)
        }
    }

    private func run(_ sql: String) throws(EmulatorError) {
        guard sqlite3_exec(self.database, sql, nil, nil, nil) == SQLITE_OK else { throw self.failure("run \(sql)") }
    }

    private func rows(
        _ sql: String, _ action: String = "write the state", texts: [String] = [], blob: [UInt8]? = nil,
        _ body: (OpaquePointer) throws(EmulatorError) -> Void = { _ in }
    ) throws(EmulatorError) {
        let statement = try self.statement(sql)
        // sqlite3_reset only repeats an error that sqlite3_step has reported.
        defer { sqlite3_reset(statement) }
        var index: Int32 = 1
        for text in texts {
            guard csqlite_bind_text(statement, index, text, Int32(text.utf8.count)) == SQLITE_OK else {
                throw self.failure(action)
            }
            index += 1
        }
        let isBound = blob?.withUnsafeBytes {
            csqlite_bind_blob(statement, index, $0.baseAddress, Int32($0.count)) == SQLITE_OK
        }
        guard isBound ?? true else { throw self.failure(action) }
        while true {
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                guard code == SQLITE_DONE else { throw self.failure(action) }
                return
            }
            try body(statement)
        }
    }

    private func statement(_ sql: String) throws(EmulatorError) -> OpaquePointer {
        if let known = self.compiled[sql] { return known }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(self.database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw self.failure("prepare \(sql)")
        }
        self.compiled[sql] = statement
        return statement
    }

    private func failure(_ action: String) -> EmulatorError {
        EmulatorError(.stateUnusable, "cannot \(action): \(String(cString: sqlite3_errmsg(self.database)))")
    }

    private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        String(decoding: StateStore.blob(statement, column), as: UTF8.self)
    }

    private static func blob(_ statement: OpaquePointer, _ column: Int32) -> [UInt8] {
        // The pointer is read first: reading it may convert the column, which may change the count.
        let start = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
