import CSQLite

/// A SQLite file that a test reads or changes with its own SQL, independently of the code under test.
package final class SQLiteFile {
    package enum Access {
        /// Changes nothing: even the write-ahead log of a killed process stays for the next process.
        case reading
        case changing
        case creating
    }

    private let raw: OpaquePointer

    package init(_ path: String, for access: Access) throws {
        var opened: OpaquePointer?
        let flags =
            switch access {
            case .reading: SQLITE_OPEN_READONLY
            case .changing: SQLITE_OPEN_READWRITE
            case .creating: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else { throw TestFailure("cannot open \(path): SQLite code \(code)") }
        self.raw = opened
        sqlite3_busy_timeout(opened, 60_000)
    }

    deinit { sqlite3_close_v2(self.raw) }

    package func execute(_ sql: String) throws {
        let code = sqlite3_exec(self.raw, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw TestFailure("SQLite code \(code): \(sql)") }
    }

    /// The selected rows as integers; NULL and text without a number are 0.
    package func integers(_ sql: String) throws -> [[Int64]] {
        try self.rows(sql) { statement in
            (0..<sqlite3_column_count(statement)).map { sqlite3_column_int64(statement, $0) }
        }
    }

    /// The first column of the selected rows as text; NULL is empty.
    package func texts(_ sql: String) throws -> [String] {
        try self.rows(sql) { statement in sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "" }
    }

    package func integer(_ sql: String) throws -> Int64 {
        guard let value = try self.integers(sql).first?.first else { throw TestFailure("nothing selected: \(sql)") }
        return value
    }

    private func rows<Row>(_ sql: String, _ read: (OpaquePointer) -> Row) throws -> [Row] {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v2(self.raw, sql, -1, &prepared, nil)
        guard code == SQLITE_OK, let statement = prepared else { throw TestFailure("SQLite code \(code): \(sql)") }
        defer { sqlite3_finalize(statement) }
        var rows: [Row] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(read(statement))
            case SQLITE_DONE: return rows
            case let code: throw TestFailure("SQLite code \(code): \(sql)")
            }
        }
    }
}
