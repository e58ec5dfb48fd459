#if Postgres
import CPostgres
import KiiPushCore

final class BlockingPostgres {
    private var handle: OpaquePointer?
    private let warnings: PostgresWarnings

    private static let settings = """
        SET search_path = pg_catalog; SET client_min_messages = warning; SET synchronous_commit = on;
        -- A statement that follows a wait has to see what was committed meanwhile.
        SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off;
        SET statement_timeout = 0; SET lock_timeout = 0;
        -- A gateway may vanish in the middle of a turn. The server has to notice, since the turn holds a lock.
        SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = 6000;
        -- Statistics say nothing of a queue. A plan that was made for an empty table would read all of a full one.
        SET jit = off; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
        SET enable_mergejoin = off; SET enable_bitmapscan = off
        """

    /// - Parameters:
    ///   - target: a URL or keywords, as libpq reads them. Prefer a password file to a password here.
    ///   - name: the session's name at the server.
    /// - Throws: ``InboxError``. libpq's message in it holds no password.
    init(_ target: String, name: String) throws(InboxError) {
        let address = try PostgresAddress(target)
        let words =
            [
                // These limits find a lost server before the gateway's lease of 10 s is over.
                ("dbname", target), ("client_encoding", "UTF8"), ("application_name", name),
                ("connect_timeout", "5"), ("tcp_user_timeout", "6000"), ("keepalives_idle", "3"),
                ("keepalives_interval", "1"), ("keepalives_count", "3"),
            ] + address.additions
        let handle = words.map(\.0).withPointers { keys in
            words.map(\.1).withPointers { values in PQconnectdbParams(keys, values, 1) }
        }
        self.handle = handle
        self.warnings = PostgresWarnings(of: handle)
        guard PQstatus(handle) == CONNECTION_OK else {
            let words = String(cString: PQerrorMessage(handle)).split { $0.isNewline || $0 == "\t" }
            throw .away("connecting to the database (\(words.joined(separator: "; ")))")
        }
        try self.execute(Self.settings, step: "preparing a session")
    }

    deinit { PQfinish(self.handle) }

    func release() -> OpaquePointer? { self.handle.take() }

    func execute(_ sql: String, step: String) throws(InboxError) { _ = try self.check(PQexec(self.handle, sql), step) }

    func prepare(_ statements: [PostgresStatement]) throws(InboxError) {
        for statement in statements {
            _ = try self.check(PQprepare(self.handle, statement.name, statement.sql, 0, nil), statement.step)
        }
    }

    func rows(_ sql: String, _ texts: [String] = [], step: String) throws(InboxError) -> PostgresRows {
        let result = texts.withPointers { values in
            PQexecParams(self.handle, sql, Int32(texts.count), nil, values, nil, nil, 1)
        }
        return try self.check(result, step)
    }

    private func check(_ result: OpaquePointer?, _ step: String) throws(InboxError) -> PostgresRows {
        guard let result else { throw .away(step) }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            let rows = PostgresRows(owning: result)
            guard !self.warnings.hasSome else { throw .away(step) }
            return rows
        default:
            defer { PQclear(result) }
            guard PQstatus(self.handle) == CONNECTION_OK else { throw .away(step) }
            throw InboxError(result, step: step)
        }
    }
}
#endif
