import CSQLite

/// Owns one `sqlite3 *`. Confined to the thread that uses it, like everything in this room.
final class SQLiteConnection {
    private let raw: OpaquePointer

    /// Opens `path` as SQLite does, with extended result codes.
    init(path: String, flags: Int32) throws(InboxError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        // "Whether or not an error occurs when it is opened, resources should be released by sqlite3_close()."
        guard let opened else { throw InboxError(.other, step: "opening", extendedCode: SQLITE_NOMEM) }
        guard code == SQLITE_OK else {
            let error = InboxError(
                extendedCode: sqlite3_extended_errcode(opened),
                systemError: sqlite3_system_errno(opened),
                step: "opening"
            )
            sqlite3_close_v2(opened)
            throw error
        }
        self.raw = opened
    }

    deinit { sqlite3_close_v2(self.raw) }

    /// The one place where a result code becomes an error. `SQLITE_OK`, `SQLITE_ROW` and `SQLITE_DONE` pass.
    @discardableResult
    func check(_ code: Int32, _ step: @autoclosure () -> String) throws(InboxError) -> Int32 {
        switch code {
        case SQLITE_OK, SQLITE_ROW, SQLITE_DONE: return code
        default:
            throw InboxError(extendedCode: code, systemError: sqlite3_system_errno(self.raw), step: step())
        }
    }

    /// Runs SQL that has neither parameters nor rows of interest.
    func execute(_ sql: String, step: @autoclosure () -> String) throws(InboxError) {
        try self.check(sqlite3_exec(self.raw, sql, nil, nil, nil), step())
    }

    /// Compiles SQL that is meant to be run many times.
    func prepare(_ sql: String, step: String) throws(InboxError) -> OpaquePointer {
        var statement: OpaquePointer?
        try self.check(
            sqlite3_prepare_v3(self.raw, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil), step)
        guard let statement else { throw InboxError(.other, step: step) }
        return statement
    }

    /// Reads a single integer, such as a pragma's value; `nil` when there is no row.
    func integer(_ sql: String, step: String) throws(InboxError) -> Int64? {
        let statement = SQLiteStatement(self, sql, step: step)
        defer { statement.reset() }
        return try statement.next() ? statement.integer(0) : nil
    }

    func setBusyTimeout(milliseconds: Int32) throws(InboxError) {
        try self.check(sqlite3_busy_timeout(self.raw, milliseconds), "setting the busy timeout")
    }

    /// Whether no transaction is open. After some errors, `SQLITE_FULL` among them, SQLite rolls back by itself.
    var isAutocommit: Bool { sqlite3_get_autocommit(self.raw) != 0 }
}
