import CSQLite

/// Owns one `sqlite3_stmt *`, compiled when it is first used and kept for the next use.
///
/// A use is: ``bind(_:_:)-(_,Int64)`` for each parameter, ``next()`` until it is false, ``reset()``.
final class SQLiteStatement {
    private let connection: SQLiteConnection
    private let sql: String
    private let step: String
    private var raw: OpaquePointer?

    init(_ connection: SQLiteConnection, _ sql: String, step: String) {
        self.connection = connection
        self.sql = sql
        self.step = step
    }

    deinit { sqlite3_finalize(self.raw) }

    private func compiled() throws(InboxError) -> OpaquePointer {
        if let raw = self.raw { return raw }
        let raw = try self.connection.prepare(self.sql, step: self.step)
        self.raw = raw
        return raw
    }

    func bind(_ index: Int32, _ value: Int64) throws(InboxError) {
        try self.connection.check(sqlite3_bind_int64(self.compiled(), index, value), self.step)
    }

    func bind(_ index: Int32, _ value: Int64?) throws(InboxError) {
        guard let value else {
            try self.connection.check(sqlite3_bind_null(self.compiled(), index), self.step)
            return
        }
        try self.bind(index, value)
    }

    func bind(_ index: Int32, _ text: String?) throws(InboxError) {
        let statement = try self.compiled()
        guard var text else {
            try self.connection.check(sqlite3_bind_null(statement, index), self.step)
            return
        }
        // SQLite copies the bytes before the call returns.
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                csqlite_bind_text(statement, index, characters.baseAddress, Int32(characters.count))
            }
        }
        try self.connection.check(code, self.step)
    }

    func bind(_ index: Int32, blob: [UInt8]) throws(InboxError) {
        let statement = try self.compiled()
        // SQLite copies the bytes before the call returns.
        let code = blob.withUnsafeBytes { csqlite_bind_blob(statement, index, $0.baseAddress, Int32($0.count)) }
        try self.connection.check(code, self.step)
    }

    /// Binds what another statement has found, of whatever type.
    func bind(_ index: Int32, valueOf column: Int32, in other: SQLiteStatement) throws(InboxError) {
        let code = sqlite3_bind_value(try self.compiled(), index, sqlite3_column_value(other.raw, column))
        try self.connection.check(code, self.step)
    }

    /// Moves to the next row; false at the end.
    func next() throws(InboxError) -> Bool {
        try self.connection.check(sqlite3_step(self.compiled()), self.step) == SQLITE_ROW
    }

    /// Runs to the end and resets: for statements without rows.
    func run() throws(InboxError) {
        defer { self.reset() }
        while try self.next() {}
    }

    /// Makes the statement ready for the next use.
    func reset() {
        // The code that sqlite3_reset returns repeats the error of the last step, which was thrown there.
        _ = sqlite3_reset(self.raw)
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(self.raw, column) == SQLITE_NULL }

    func isText(_ column: Int32) -> Bool { sqlite3_column_type(self.raw, column) == SQLITE_TEXT }

    func isBlob(_ column: Int32) -> Bool { sqlite3_column_type(self.raw, column) == SQLITE_BLOB }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(self.raw, column) }

    /// The integer, or the bound that it is beyond: a damaged page says anything.
    func integer(_ column: Int32, within range: ClosedRange<Int64>) -> Int64 {
        min(max(self.integer(column), range.lowerBound), range.upperBound)
    }

    /// A moment of the years 1970 to 9999, which can be reckoned with.
    func time(_ column: Int32) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: self.integer(column, within: InboxSchema.calendar))
    }

    func optionalTime(_ column: Int32) -> Timestamp? { self.isNull(column) ? nil : self.time(column) }

    func optionalInteger(_ column: Int32) -> Int64? { self.isNull(column) ? nil : self.integer(column) }

    func optionalInteger(_ column: Int32, within range: ClosedRange<Int64>) -> Int64? {
        self.isNull(column) ? nil : self.integer(column, within: range)
    }

    func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(self.raw, column) else { return nil }
        let count = Int(sqlite3_column_bytes(self.raw, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] { self.withBlob(column) { [UInt8]($0) } }

    /// Lends the bytes of a blob; they are gone after the next step or reset.
    func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // The pointer is NULL for a BLOB without bytes.
        let bytes = sqlite3_column_blob(self.raw, column)
        let count = bytes == nil ? 0 : Int(sqlite3_column_bytes(self.raw, column))
        return body(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

extension Timestamp {
    /// The moment, or the end of the range that it is beyond, in milliseconds since 1970.
    func held(to range: ClosedRange<Int64>) -> Timestamp {
        Timestamp(
            millisecondsSinceEpoch: min(max(self.millisecondsSinceEpoch, range.lowerBound), range.upperBound))
    }
}
