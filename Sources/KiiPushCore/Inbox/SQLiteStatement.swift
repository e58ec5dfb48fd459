import CSQLite

/// Owns one `sqlite3_stmt *`, compiled at its first use and kept for later ones.
///
/// Code that runs for each message calls ``bind(_:_:)-(_,Int64?)``, ``next()`` and ``reset()`` itself, since the other
/// methods allocate.
package final class SQLiteStatement {
    private let connection: SQLiteConnection
    private let sql: String
    private let step: String
    private var raw: OpaquePointer?

    package init(_ connection: SQLiteConnection, _ sql: String, step: String) {
        (self.connection, self.sql, self.step) = (connection, sql, step)
    }

    deinit { sqlite3_finalize(self.raw) }

    private func compiled() throws(InboxError) -> OpaquePointer {
        if let raw = self.raw { return raw }
        let raw = try self.connection.prepare(self.sql, step: self.step)
        self.raw = raw
        return raw
    }

    func bind(_ index: Int32, _ value: Int64?) throws(InboxError) {
        let statement = try self.compiled()
        let code = value.map { sqlite3_bind_int64(statement, index, $0) } ?? sqlite3_bind_null(statement, index)
        try self.connection.check(code, self.step)
    }

    func bind<let count: Int>(from index: Int32, _ values: InlineArray<count, Int64?>) throws(InboxError) {
        for offset in values.indices { try self.bind(index + Int32(offset), values[offset]) }
    }

    func bind(_ index: Int32, _ text: String?) throws(InboxError) {
        guard var text else { return try self.bind(index, nil as Int64?) }
        let statement = try self.compiled()
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
        let code = blob.withUnsafeBytes { csqlite_bind_blob(statement, index, $0.baseAddress, Int32($0.count)) }
        try self.connection.check(code, self.step)
    }

    func bind(_ index: Int32, valueOf column: Int32, in other: SQLiteStatement) throws(InboxError) {
        let code = sqlite3_bind_value(try self.compiled(), index, sqlite3_column_value(other.raw, column))
        try self.connection.check(code, self.step)
    }

    func next() throws(InboxError) -> Bool {
        try self.connection.check(sqlite3_step(self.compiled()), self.step) == SQLITE_ROW
    }

    @discardableResult
    func bound(to values: [(any SQLiteValue)?]) throws(InboxError) -> SQLiteStatement {
        for (index, value) in zip(Int32(1)..., values) {
            if let value { try value.bind(to: self, at: index) } else { try self.bind(index, nil as Int64?) }
        }
        return self
    }

    package func run(_ values: (any SQLiteValue)?...) throws(InboxError) {
        defer { self.reset() }
        try self.bound(to: values)
        while try self.next() {}
    }

    func forEach(
        _ values: (any SQLiteValue)?..., read: (SQLiteStatement) throws(InboxError) -> Bool
    ) throws(InboxError) {
        defer { self.reset() }
        try self.bound(to: values)
        while try self.next(), try read(self) {}
    }

    func first<Result>(
        _ values: (any SQLiteValue)?..., read: (SQLiteStatement) throws(InboxError) -> Result?
    ) throws(InboxError) -> Result? {
        defer { self.reset() }
        return try self.bound(to: values).next() ? try read(self) : nil
    }

    /// Skips rows for which `read` returns `nil`.
    package func all<Result>(
        _ values: (any SQLiteValue)?..., read: (SQLiteStatement) throws(InboxError) -> Result?
    ) throws(InboxError) -> [Result] {
        defer { self.reset() }
        var results: [Result] = []
        try self.bound(to: values)
        while try self.next() { if let result = try read(self) { results.append(result) } }
        return results
    }

    /// Ignores the result: `sqlite3_reset` only repeats the error of the last step.
    func reset() { _ = sqlite3_reset(self.raw) }

    func type(_ column: Int32) -> Int32 { sqlite3_column_type(self.raw, column) }
    func isNull(_ column: Int32) -> Bool { self.type(column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(self.raw, column) }

    /// Clamped: a damaged page may hold any number.
    func integer(_ column: Int32, within range: ClosedRange<Int64>) -> Int64 { self.integer(column).held(to: range) }

    /// A time in the years 1970 to 9999, safe for arithmetic.
    func time(_ column: Int32) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: self.integer(column, within: InboxSchema.calendar))
    }

    func optionalTime(_ column: Int32) -> Timestamp? { self.isNull(column) ? nil : self.time(column) }
    func optionalInteger(_ column: Int32, within range: ClosedRange<Int64> = .min ... .max) -> Int64? {
        self.isNull(column) ? nil : self.integer(column, within: range)
    }

    package func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(self.raw, column) else { return nil }
        let count = Int(sqlite3_column_bytes(self.raw, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    package func blob(_ column: Int32) -> [UInt8] { self.withBlob(column) { [UInt8]($0) } }

    func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // The pointer is NULL for an empty BLOB.
        let bytes = sqlite3_column_blob(self.raw, column)
        let count = bytes == nil ? 0 : Int(sqlite3_column_bytes(self.raw, column))
        return body(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

package protocol SQLiteValue {
    func bind(to target: SQLiteStatement, at index: Int32) throws(InboxError)
}

extension Int64: SQLiteValue {
    package func bind(to target: SQLiteStatement, at index: Int32) throws(InboxError) { try target.bind(index, self) }

    func held(to range: ClosedRange<Int64>) -> Int64 { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}

extension Int: SQLiteValue {
    package func bind(to target: SQLiteStatement, at index: Int32) throws(InboxError) {
        try target.bind(index, Int64(self))
    }
}

extension String: SQLiteValue {
    package func bind(to target: SQLiteStatement, at index: Int32) throws(InboxError) { try target.bind(index, self) }
}

extension Array: SQLiteValue where Element == UInt8 {
    package func bind(to target: SQLiteStatement, at index: Int32) throws(InboxError) {
        try target.bind(index, blob: self)
    }
}

/// Stored as milliseconds since 1970.
extension Timestamp: SQLiteValue {
    package func bind(to target: SQLiteStatement, at index: Int32) throws(InboxError) {
        try target.bind(index, self.millisecondsSinceEpoch)
    }
}
