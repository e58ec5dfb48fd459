import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct InboxVerifyingTests {
    /// One bit of a row's source differs between index and table. A look-up by source would miss the row.
    @Test(arguments: [0, 15, 16, 40, 63])
    func anIndexThatLeadsToAnotherSourceIsDamaged(bit: Int) throws {
        let fixture = try self.file(
            changedBehindTheIndex: "source = (source | (1 << \(bit))) - (source & (1 << \(bit)))")
        let error = #expect(throws: InboxAccessError.self) {
            try InboxReader(stateDirectory: fixture.directory).verify()
        }
        guard case .damaged(_, let reason) = error else { throw TestFailure("\(error as Any)") }
        #expect(reason.contains("in the indexes"))
    }

    @Test func anIndexThatWasTakenOutAndPutBackIsNot() throws {
        let fixture = try self.file(changedBehindTheIndex: "source = source")
        #expect(throws: Never.self) { try InboxReader(stateDirectory: fixture.directory).verify() }
    }

    /// The index has every entry, but in the wrong order. A search would miss entries, so waiting messages would never
    /// be delivered.
    @Test(arguments: [
        ("message_waiting", "(installation, source DESC, sequence DESC) WHERE state = 0"),
        ("message_open", "(installation, state, sequence DESC) WHERE state < 4"),
    ])
    func anIndexInWhichNothingIsFoundIsDamaged(index: String, columns: String) throws {
        let fixture = try self.fixture()
        let select = "FROM sqlite_schema WHERE name = '\(index)'"
        let sql = try #require(try SQLiteFile(fixture.path, for: .changing).texts("SELECT sql \(select)").first)
        let file = try SQLiteFile(fixture.path, for: .changing)
        try file.execute("DROP INDEX \(index); CREATE INDEX \(index) ON message \(columns)")
        try file.execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '\(sql)' WHERE name = '\(index)'")
        let error = #expect(throws: InboxAccessError.self) {
            try InboxReader(stateDirectory: fixture.directory).verify()
        }
        guard case .damaged(_, let reason) = error else { throw TestFailure("\(error as Any)") }
        #expect(reason.contains("in the indexes"))
    }

    private func fixture() throws -> InboxFixture {
        let fixture = try InboxFixture(name: "inbox.sqlite")
        let inbox = try fixture.open()
        var row = StoredMessage.sample(state: .waiting)
        row.source = -8_481_857_295_798_033_189
        try inbox.insert([row, row, row])
        return fixture
    }

    /// Changes the second of three waiting rows without its index.
    private func file(changedBehindTheIndex change: String) throws -> InboxFixture {
        let fixture = try self.fixture()
        let select = "FROM sqlite_schema WHERE name = 'message_waiting'"
        let file = try SQLiteFile(fixture.path, for: .changing)
        let (page, sql) = (try file.integer("SELECT rootpage \(select)"), try file.texts("SELECT sql \(select)"))
        // SQLite does not update an index that is missing in the schema.
        try file.execute("PRAGMA writable_schema = ON; DELETE \(select)")
        try SQLiteFile(fixture.path, for: .changing).execute("UPDATE message SET \(change) WHERE sequence = 2")
        try SQLiteFile(fixture.path, for: .changing).execute(
            """
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_schema VALUES
                ('index', 'message_waiting', 'message', \(page), '\(try #require(sql.first))')
            """)
        return fixture
    }
}
