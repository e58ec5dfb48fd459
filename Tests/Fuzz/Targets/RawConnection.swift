import CSQLite
import KiiPushCore

/// A value of any type that SQLite has.
enum RawValue {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    private static let bounds: [Int64] = [
        .max, .min, .max - 1, 1 << 56, 1 << 55, (1 << 55) + 1, 1 << 48, 1 << 32, 1 << 31, 1 << 30, 65_536,
        253_402_300_800_000,
        1_000_001, -1,
    ]

    init(_ input: inout FuzzInput) {
        switch input.number(in: 0...5) {
        case 0: self = .integer(Int64(Int8(bitPattern: input.byte())))
        case 1: self = .integer(Self.bounds[input.number(in: 0...Self.bounds.count - 1)])
        case 2: self = .text(input.bytes(input.number(in: 0...63)))
        case 3: self = .blob(input.bytes(input.number(in: 0...63)))
        case 4: self = .real(Double(bitPattern: input.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }))
        default: self = .null
        }
    }
}

/// SQLite without the library's checks: it writes any value.
final class RawConnection {
    struct Failure: Error { let text: String }

    private let handle: OpaquePointer
    let tables: [RawTable]

    init(_ path: String) throws {
        var handle: OpaquePointer?
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let handle else {
            throw Failure(text: "the file does not open")
        }
        self.handle = handle
        sqlite3_exec(handle, "PRAGMA synchronous = OFF", nil, nil, nil)
        let names = try RawStatement(
            handle, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        self.tables = try names.texts().map { try RawTable(handle, $0) }
    }

    deinit { sqlite3_close_v2(self.handle) }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(self.handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(text: "\(sql): \(String(cString: sqlite3_errmsg(self.handle)))")
        }
    }
}

/// A table with its original rows.
final class RawTable {
    struct Row {
        /// The rowid, or the combination of a two-part key.
        let key: Int64
        /// The message that the row is about, or the subject of another table.
        let number: Int64
        fileprivate let values: [OpaquePointer?]
    }

    let name: String
    let columns: Int
    let rows: [Row]
    private let setters: [RawStatement]
    private let handle: OpaquePointer
    private let removal, clearing, insertion: RawStatement

    init(_ handle: OpaquePointer, _ name: String) throws {
        self.name = name
        self.handle = handle
        let columns = try RawStatement(handle, "SELECT name FROM pragma_table_info('\(name)')").texts()
        self.columns = columns.count
        // Here, a table without rowids has a key of two numbers.
        let parts = try RawStatement(
            handle,
            """
            SELECT info.name FROM pragma_table_list('\(name)') AS list JOIN pragma_table_info('\(name)') AS info
            WHERE list.wr AND info.pk > 0 ORDER BY info.pk
            """
        ).texts()
        let (key, owner) = parts.count == 2 ? ("\(parts[0]) * 1000 + \(parts[1])", parts[0]) : ("rowid", "rowid")
        self.rows = try RawStatement(handle, "SELECT \(key), \(owner), * FROM \(name)").rows()
        self.setters = try columns.map { column in
            try RawStatement(handle, "UPDATE OR IGNORE \(name) SET \(column) = ?2 WHERE \(key) = ?1")
        }
        self.removal = try RawStatement(handle, "DELETE FROM \(name) WHERE \(key) = ?1")
        self.clearing = try RawStatement(handle, "DELETE FROM \(name)")
        let hasRowID = parts.isEmpty
        let filled = (hasRowID ? ["rowid"] : []) + columns
        let values = filled.indices.map { "?\($0 + (hasRowID ? 1 : 2))" }.joined(separator: ", ")
        self.insertion = try RawStatement(
            handle, "INSERT INTO \(name) (\(filled.joined(separator: ", "))) VALUES (\(values))")
    }

    func set(_ column: Int, of row: Int64, to value: RawValue) {
        let statement = self.setters[column]
        statement.bind(1, .integer(row))
        statement.bind(2, value)
        // SQLite refuses a value that the table does not accept, and the row stays unchanged.
        statement.run()
    }

    func remove(_ row: Int64) {
        self.removal.bind(1, .integer(row))
        self.removal.run()
    }

    /// Restores the original rows.
    func restore(_ numbers: Set<Int64>) throws {
        var gone = false
        for number in numbers {
            self.remove(number)
            // The row now has another number, or none.
            gone = gone || sqlite3_changes(self.handle) == 0
        }
        if gone { self.clearing.run() }
        for row in self.rows where gone || numbers.contains(row.key) {
            self.insertion.bind(1, .integer(row.key))
            for (index, value) in row.values.enumerated() { self.insertion.bind(Int32(index + 2), copy: value) }
            guard self.insertion.run() else { throw RawConnection.Failure(text: "a row of \(self.name)") }
        }
    }
}

final class RawStatement {
    private let raw: OpaquePointer

    init(_ handle: OpaquePointer, _ sql: String) throws {
        var raw: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &raw, nil) == SQLITE_OK, let raw else {
            throw RawConnection.Failure(text: "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        }
        self.raw = raw
    }

    deinit { sqlite3_finalize(self.raw) }

    func bind(_ index: Int32, _ value: RawValue) {
        switch value {
        case .null: sqlite3_bind_null(self.raw, index)
        case .integer(let number): sqlite3_bind_int64(self.raw, index, number)
        case .real(let number): sqlite3_bind_double(self.raw, index, number)
        case .text(let bytes):
            bytes.withUnsafeBytes { bytes in
                _ = csqlite_bind_text(
                    self.raw, index, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count))
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes { _ = csqlite_bind_blob(self.raw, index, $0.baseAddress, Int32($0.count)) }
        }
    }

    func bind(_ index: Int32, copy value: OpaquePointer?) { sqlite3_bind_value(self.raw, index, value) }

    @discardableResult
    func run() -> Bool {
        defer { sqlite3_reset(self.raw) }
        return sqlite3_step(self.raw) == SQLITE_DONE
    }

    func texts() throws -> [String] {
        var texts: [String] = []
        while sqlite3_step(self.raw) == SQLITE_ROW, let text = sqlite3_column_text(self.raw, 0) {
            texts.append(String(cString: text))
        }
        sqlite3_reset(self.raw)
        return texts
    }

    func rows() throws -> [RawTable.Row] {
        var rows: [RawTable.Row] = []
        while sqlite3_step(self.raw) == SQLITE_ROW {
            let values = (2..<sqlite3_column_count(self.raw)).map {
                sqlite3_value_dup(sqlite3_column_value(self.raw, $0))
            }
            rows.append(
                RawTable.Row(
                    key: sqlite3_column_int64(self.raw, 0), number: sqlite3_column_int64(self.raw, 1), values: values))
        }
        sqlite3_reset(self.raw)
        return rows
    }
}
