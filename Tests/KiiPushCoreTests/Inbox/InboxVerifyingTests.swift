import Foundation
import KiiPushCore
import TestSupport
import Testing

/// What an inbox finds when it holds its tables and indexes against each other.
@Suite struct InboxVerifyingTests {
    /// Each row, by its bit, has another source in the index than in the table. Nobody would find it by its source.
    @Test(arguments: [0, 15, 16, 40, 63])
    func anIndexThatLeadsToAnotherSourceIsDamaged(bit: Int) throws {
        let fixture = try InboxFixture(name: "inbox.sqlite")
        do {
            let inbox = try fixture.open()
            var row = NewRow.sample(state: .waiting)
            row.source = -8_481_857_295_798_033_189
            try inbox.insert([row, row, row])
        }
        try InboxReader(stateDirectory: fixture.directory).verify()
        let select = "FROM sqlite_schema WHERE name = 'message_waiting'"
        let file = try SQLiteFile(fixture.path, for: .changing)
        let (page, sql) = (try file.integer("SELECT rootpage \(select)"), try file.texts("SELECT sql \(select)"))
        // An index that SQLite does not know of stays as it is when a row changes.
        try file.execute("PRAGMA writable_schema = ON; DELETE \(select)")
        try SQLiteFile(fixture.path, for: .changing).execute(
            "UPDATE message SET source = (source | (1 << \(bit))) - (source & (1 << \(bit))) WHERE sequence = 2")
        try SQLiteFile(fixture.path, for: .changing).execute(
            """
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_schema VALUES
                ('index', 'message_waiting', 'message', \(page), '\(try #require(sql.first))')
            """)
        #expect(throws: InboxReadingError.self) { try InboxReader(stateDirectory: fixture.directory).verify() }
    }
}
