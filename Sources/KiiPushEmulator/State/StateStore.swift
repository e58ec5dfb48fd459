import CSQLite
import Glibc
import KiiPushCore

/// The cloud's state in an SQLite file. Used by one thread at a time.
final class StateStore {
    /// A file with a higher version of its layout is refused.
    private static let version: Int64 = 1
    private static let opening = "opening"
    private static let writing = "writing the state"

    private let path: String
    private let database: SQLiteConnection
    private let select: SQLiteStatement
    private let insert: SQLiteStatement
    private let delete: SQLiteStatement

    init(path: String) throws(EmulatorError) {
        // SQLite would create a file that others may read. SQLite's write-ahead log gets the mode of this file.
        _ = try EmulatorError.ofFile(OwnFile.open(path, O_RDWR | O_CREAT))
        let database: SQLiteConnection
        do throws(InboxError) {
            database = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE)
            try StateStore.prepare(database)
        } catch {
            throw StateStore.failure(error, path)
        }
        self.path = path
        self.database = database
        self.select = SQLiteStatement(
            database, "SELECT kind, key, value FROM record ORDER BY kind, key", step: "reading the state")
        self.insert = SQLiteStatement(
            database, "INSERT OR REPLACE INTO record VALUES (?1, ?2, ?3)", step: StateStore.writing)
        self.delete = SQLiteStatement(
            database, "DELETE FROM record WHERE kind = ?1 AND key = ?2", step: StateStore.writing)
    }

    private static func prepare(_ database: SQLiteConnection) throws(InboxError) {
        try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", step: opening)
        let stored = try database.integer("PRAGMA user_version", step: opening) ?? 0
        guard stored <= version else { throw InboxError(.newerVersion(Int(stored)), step: opening) }
        let table = "record (kind TEXT, key TEXT, value BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID"
        try database.execute(
            "PRAGMA user_version = \(version); CREATE TABLE IF NOT EXISTS \(table)", step: opening)
    }

    func apply(_ changes: [StateChange]) throws(EmulatorError) {
        guard !changes.isEmpty else { return }
        do throws(InboxError) {
            try self.database.execute("BEGIN IMMEDIATE", step: StateStore.writing)
            for change in changes {
                switch change {
                case .save(let table, let key, let value): try self.insert.run(table, key, value.serialized())
                case .remove(let table, let key): try self.delete.run(table, key)
                case .removeAll:
                    let deletion = "DELETE FROM record WHERE kind <> '\(EmulatorState.table)'"
                    try self.database.execute(deletion, step: StateStore.writing)
                }
            }
            try self.database.execute("COMMIT", step: StateStore.writing)
        } catch {
            // Without an open transaction, as after a failed BEGIN, ROLLBACK only fails.
            try? self.database.execute("ROLLBACK", step: StateStore.writing)
            throw StateStore.failure(error, self.path)
        }
    }

    func rows() throws(EmulatorError) -> [(table: String, key: String, value: JSONValue)] {
        let stored: [(table: String, key: String, value: [UInt8])]
        do throws(InboxError) {
            stored = try self.select.all { ($0.text(0) ?? "", $0.text(1) ?? "", $0.blob(2)) }
        } catch {
            throw StateStore.failure(error, self.path)
        }
        return try stored.map { (table, key, value) throws(EmulatorError) in
            do throws(JSONError) {
                return (table, key, try JSONValue(parsing: value))
            } catch {
                throw EmulatorError(.stateUnusable, "the stored \(table) \(key) is damaged: \(error)")
            }
        }
    }

    private static func failure(_ error: InboxError, _ path: String) -> EmulatorError {
        if case .newerVersion = error.kind {
            return EmulatorError(.stateUnusable, "\(path) was written by a later version")
        }
        let reason = String(cString: sqlite3_errstr(error.extendedCode))
        return EmulatorError(.stateUnusable, "\(path): \(error.step) failed: \(reason)")
    }
}
