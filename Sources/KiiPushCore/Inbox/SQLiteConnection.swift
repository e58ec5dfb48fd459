import CSQLite

/// Owns one `sqlite3 *`. Only one thread may use it.
package final class SQLiteConnection {
    private let raw: OpaquePointer

    package init(path: String, flags: Int32) throws(InboxError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        // After most errors sqlite3_open_v2 still returns a handle, which must be closed.
        guard let opened else { throw InboxError(.other, step: "opening", extendedCode: SQLITE_NOMEM) }
        guard code == SQLITE_OK else {
            defer { sqlite3_close_v2(opened) }
            throw InboxError(
                extendedCode: sqlite3_extended_errcode(opened), systemError: sqlite3_system_errno(opened),
                step: "opening")
        }
        self.raw = opened
        // The file may be foreign: views, triggers and functions in its schema must not run.
        for option in [SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER] {
            try self.check(csqlite_db_config(opened, option, 0), "opening")
        }
    }

    /// Whether closing keeps the write-ahead log, instead of writing it into the file and removing it.
    func keepLogOnClose(_ isKept: Bool) throws(InboxError) {
        try self.check(csqlite_db_config(self.raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isKept ? 1 : 0), "opening")
    }

    deinit { sqlite3_close_v2(self.raw) }

    @discardableResult
    func check(_ code: Int32, _ step: @autoclosure () -> String) throws(InboxError) -> Int32 {
        guard code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE else {
            throw InboxError(extendedCode: code, systemError: sqlite3_system_errno(self.raw), step: step())
        }
        return code
    }

    var changedRows: Int32 { sqlite3_changes(self.raw) }

    package func execute(_ sql: String, step: @autoclosure () -> String) throws(InboxError) {
        try self.check(sqlite3_exec(self.raw, sql, nil, nil, nil), step())
    }

    func prepare(_ sql: String, step: String) throws(InboxError) -> OpaquePointer {
        var statement: OpaquePointer?
        try self.check(sqlite3_prepare_v3(self.raw, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil), step)
        guard let statement else { throw InboxError(.other, step: step) }
        return statement
    }

    package func integer(_ sql: String, step: String) throws(InboxError) -> Int64? {
        try SQLiteStatement(self, sql, step: step).first { $0.integer(0) }
    }

    func pagesWritten() -> Int64 {
        var (written, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(self.raw, SQLITE_DBSTATUS_CACHE_WRITE, &written, &highest, 1)
        return Int64(written)
    }

    /// Writes the log into the file. `mode` is an `SQLITE_CHECKPOINT_…` constant. Returns the number of pages in the
    /// log, and how many of them are in the file; negative if unknown.
    func checkpoint(_ mode: Int32) throws(InboxError) -> (frames: Int32, written: Int32, isBusy: Bool) {
        var (frames, written): (Int32, Int32) = (-1, -1)
        let code = sqlite3_wal_checkpoint_v2(self.raw, nil, mode, &frames, &written)
        let isBusy = code & 0xFF == SQLITE_BUSY
        if !isBusy { try self.check(code, "writing the log into the file") }
        return (frames, written, isBusy)
    }

    /// Lengthens the file to `bytes` more than the database, so that writing the log into the file needs no further
    /// room. SQLite cuts off the rest after it has written the whole log.
    func lengthenFile(by bytes: Int64) throws(InboxError) {
        let step = "making room to write the log into the file"
        let pages = try self.integer("PRAGMA page_count", step: step) ?? 0
        var length = pages * 4096 + bytes
        // SQLite obeys the size hint only with a chunk size, which must not stay.
        var (chunk, none): (Int32, Int32) = (4096, 0)
        sqlite3_file_control(self.raw, nil, SQLITE_FCNTL_CHUNK_SIZE, &chunk)
        defer { sqlite3_file_control(self.raw, nil, SQLITE_FCNTL_CHUNK_SIZE, &none) }
        let code = sqlite3_file_control(self.raw, nil, SQLITE_FCNTL_SIZE_HINT, &length)
        guard code != SQLITE_OK else { return }
        var systemError: Int32 = 0
        sqlite3_file_control(self.raw, nil, SQLITE_FCNTL_LAST_ERRNO, &systemError)
        throw InboxError(extendedCode: code, systemError: systemError, step: step)
    }

    func setBusyTimeout(milliseconds: Int32) throws(InboxError) {
        try self.check(sqlite3_busy_timeout(self.raw, milliseconds), "setting the busy timeout")
    }

    var isAutocommit: Bool { sqlite3_get_autocommit(self.raw) != 0 }
}
