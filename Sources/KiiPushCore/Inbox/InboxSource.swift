import CSQLite

final class InboxSource {
    struct Installation {
        var id: String
        /// Number of the last message whose acknowledgement is known to have arrived; `nil` if unreadable.
        var proven: Int64?
        var owner: InboxOwner?
        var adopter: Int64?
    }

    /// `row`: ``rows`` has a message. `nonsense`: a row that is no message. `damage`: an unreadable place.
    enum Step { case row(sequence: Int64), nonsense, end, damage }

    static let leading = ["sequence", "installation", "state", "reason", "topic", "payload"]

    private static let sequences: ClosedRange<Int64> = 1...(1 << 55)

    private let connection: SQLiteConnection
    private let statements: InboxStatements
    /// The columns are ``leading``, then ``furtherColumns``: all other columns that both files have, except `bytes`.
    let rows: SQLiteStatement
    let furtherColumns: [String]
    let events: SQLiteStatement?
    private let state: SQLiteStatement
    let pages: Int

    init(_ path: String, columnsOf fresh: SQLiteConnection) throws(InboxError) {
        let size = InboxFile.size(of: path)
        guard size > 0 else { throw InboxError(.corrupt, step: "looking for messages in an empty file") }
        let connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READONLY)
        // SQLite then checks the cells of each page, and reports more damage.
        try connection.execute("PRAGMA cell_size_check = ON", step: "looking at a damaged file")
        let present = Set(try InboxSource.columns(of: "message", connection))
        let known = try InboxSource.columns(of: "message", fresh)
        guard Set(InboxSource.leading).isSubset(of: present)
        else { throw InboxError(.corrupt, step: "looking for messages in a damaged file") }
        self.furtherColumns = known.filter {
            present.contains($0) && !InboxSource.leading.contains($0) && $0 != "bytes"
        }
        self.pages = (size + InboxFile.size(of: path + "-wal")) / 4096 + 1
        self.connection = connection
        self.statements = InboxStatements(connection)
        self.state = SQLiteStatement(
            connection, "SELECT state FROM message NOT INDEXED WHERE sequence = ?1", step: "reading a damaged file")
        let values = (InboxSource.leading + self.furtherColumns).map(InboxSource.repaired)
        self.rows = SQLiteStatement(
            connection,
            """
            SELECT \(values.joined(separator: ", ")) FROM message NOT INDEXED
            WHERE sequence >= ?1 AND sequence <= ?2 AND (state IS NOT \(RowState.done.rawValue) OR ?3) ORDER BY sequence
            """, step: "reading a damaged file")
        let details = ["attempt", "started_ms", "pause_ms", "detail"].map(InboxSource.repaired).joined(separator: ", ")
        self.events =
            try InboxSource.columns(of: "event", connection).count == 8
            ? SQLiteStatement(
                connection,
                """
                SELECT number, at_ms, kind, \(details)
                FROM event WHERE message = ?1 AND number BETWEEN 1 AND \(InboxSchema.eventLimit)
                    AND typeof(number) = 'integer' AND typeof(at_ms) = 'integer' AND typeof(kind) = 'integer'
                ORDER BY number LIMIT \(InboxSchema.eventLimit)
                """, step: "reading a damaged file")
            : nil
    }

    /// SQL for a column's value, or for a substitute if the value has a wrong type.
    private static func repaired(_ column: String) -> String {
        func checked(_ column: String, else other: String) -> String {
            "CASE typeof(\(column)) WHEN 'integer' THEN \(column) ELSE \(other) END"
        }
        switch column {
        case "sequence", "topic", "payload": return column
        case "reason", "detail", "opened": return "CASE typeof(\(column)) WHEN 'text' THEN \(column) END"
        case "installation": return checked(column, else: "\(InboxSchema.unknownInstallation)")
        case "attempts", "crashes", "qos", "duplicate", "retain", "connection": return checked(column, else: "0")
        case "events": return checked(column, else: "1")
        case "updated_ms": return checked(column, else: checked("received_ms", else: "0"))
        case "received_ms": return checked(column, else: checked("updated_ms", else: "0"))
        // A retry without a due time would never start.
        case "next_attempt_ms": return checked(column, else: "CASE state WHEN \(RowState.retry.rawValue) THEN 0 END")
        default: return checked(column, else: "NULL")
        }
    }

    private static func columns(of table: String, _ connection: SQLiteConnection) throws(InboxError) -> [String] {
        let statement = SQLiteStatement(
            connection,
            """
            SELECT info.name FROM sqlite_schema AS item JOIN pragma_table_info(item.name) AS info
            WHERE item.name = '\(table)' AND item.type = 'table' AND item.rootpage > 0
            """, step: "reading the columns")
        return try statement.all { $0.text(0) }
    }

    // MARK: - Messages

    /// Starts reading at `first` itself: to read after a number, SQLite would first read that number's page, which may
    /// be damaged. The caller resets ``rows``.
    func start(from first: Int64, through last: Int64, includingDone: Bool) throws(InboxError) {
        try self.rows.bind(from: 1, [first, last, includingDone ? 1 : 0])
    }

    /// - Throws: ``InboxError`` for errors without a cause in the file, such as a lack of memory.
    func next() throws(InboxError) -> Step {
        do throws(InboxError) {
            guard try self.rows.next() else { return .end }
        } catch {
            guard error.kind == .corrupt || error.kind == .io else { throw error }
            return .damage
        }
        let sequence = self.rows.integer(0)
        let isWhole = self.rows.type(4) == SQLITE_TEXT && self.rows.type(5) == SQLITE_BLOB
        return isWhole && InboxSource.sequences.contains(sequence) ? .row(sequence: sequence) : .nonsense
    }

    var hasEvents: Bool {
        guard let column = self.furtherColumns.firstIndex(of: "events") else { return false }
        return self.rows.integer(Int32(InboxSource.leading.count + column)) != 0
    }

    // MARK: - The file's own counts and indexes

    func ledger() -> InboxLedger? { try? self.statements.readLedger() }
    func notices() -> [InboxNotice] { (try? self.statements.readNotices()) ?? [] }

    /// The numbers of unfinished messages, from the indexes; `nil` if an index is unreadable.
    func unfinished() -> [Int64]? {
        let open = "SELECT sequence FROM message INDEXED BY message_open WHERE state < \(RowState.done.rawValue)"
        let dead = "SELECT sequence FROM message INDEXED BY message_dead WHERE state = \(RowState.dead.rawValue)"
        guard let open = self.integers(open), let dead = self.integers(dead) else { return nil }
        return (open + dead).filter(InboxSource.sequences.contains).sorted()
    }

    func isDone(_ sequence: Int64) -> Bool {
        defer { self.state.reset() }
        guard (try? self.state.bind(1, sequence)) != nil, (try? self.state.next()) == true else { return false }
        return self.state.integer(0) == RowState.done.rawValue
    }

    func lastSequence() -> Int64? { self.integers("SELECT max(sequence) FROM message")?.first }

    func installations() -> [Int64: Installation] {
        var found: [Int64: Installation] = [:]
        for sql in [
            "SELECT key, id, proven_sequence, adopter, site, app, principal FROM installation NOT INDEXED",
            // The index has the same keys and IDs on other pages.
            "SELECT key, id, NULL, NULL, NULL, NULL, NULL FROM installation INDEXED BY sqlite_autoindex_installation_1",
        ] {
            let statement = SQLiteStatement(self.connection, sql, step: "reading the installations")
            defer { statement.reset() }
            while (try? statement.next()) == true {
                let key = statement.integer(0)
                guard key > InboxSchema.unknownInstallation, let id = statement.text(1), found[key] == nil
                else { continue }
                found[key] = Installation(
                    id: id, proven: statement.optionalInteger(2), owner: InboxOwner(statement, from: 4),
                    adopter: statement.optionalInteger(3))
            }
        }
        return found
    }

    private func integers(_ sql: String) -> [Int64]? {
        try? SQLiteStatement(self.connection, sql, step: "reading a damaged file").all { $0.integer(0) }
    }
}
