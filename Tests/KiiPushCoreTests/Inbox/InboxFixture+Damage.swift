import Foundation
import TestSupport
import Testing

extension InboxFixture {
    static let pageSize = 4096

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: self.directory).sorted() }

    func rootPage(of name: String) throws -> Int {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'"
        return Int(try SQLiteFile(self.path, for: .reading).integer(sql))
    }

    /// The file must be closed.
    func damage(pageWith text: String) throws {
        let data = try Data(contentsOf: URL(filePath: self.path))
        let range = try #require(data.range(of: Data(text.utf8)))
        try self.damage(page: range.lowerBound / Self.pageSize + 1)
    }

    func damage(page: Int) throws {
        let start = (page - 1) * Self.pageSize
        try self.change { bytes in
            bytes.replaceSubrange(start..<start + Self.pageSize, with: [UInt8](repeating: 0xA5, count: Self.pageSize))
        }
    }

    /// The file must be closed.
    func change(_ change: (inout [UInt8]) -> Void) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: self.path)))
        change(&bytes)
        let handle = try FileHandle(forWritingTo: URL(filePath: self.path))
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }
}
