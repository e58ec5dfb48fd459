#if Postgres
import CPostgres

final class PostgresRows {
    private let result: OpaquePointer

    init(owning result: OpaquePointer) { self.result = result }

    deinit { PQclear(self.result) }

    var count: Int { Int(PQntuples(self.result)) }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(self.result, Int32(row), Int32(column)) == 1 }

    func integer(_ row: Int, _ column: Int) -> Int64 {
        let bytes = self.bytes(row, column)
        guard let first = bytes.first else { return 0 }
        return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
    }

    func optionalInteger(_ row: Int, _ column: Int) -> Int64? {
        self.isNull(row, column) ? nil : self.integer(row, column)
    }

    func text(_ row: Int, _ column: Int) -> String? {
        self.isNull(row, column) ? nil : String(decoding: self.bytes(row, column), as: UTF8.self)
    }

    func blob(_ row: Int, _ column: Int) -> [UInt8] { Array(self.bytes(row, column)) }

    private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(self.result, Int32(row), Int32(column)),
            count: Int(PQgetlength(self.result, Int32(row), Int32(column))))
    }
}
#endif
