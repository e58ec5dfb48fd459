#if Postgres
package import KiiPushCore

/// The tables and functions of the fleet in a database: schema `kii_push`.
package enum PostgresSchema {
    /// The version that this library writes.
    static var version: Int { PostgresMigrations.all.count }

    /// Makes the schema, or brings it up to date, in one transaction. Blocks. Gateways of an older version have to be
    /// stopped before.
    ///
    /// - Throws: ``InboxError``.
    package static func migrate(_ target: String) throws(InboxError) {
        let step = "making the schema"
        let connection = try BlockingPostgres(target, name: "kii-push store")
        try connection.execute("BEGIN", step: step)
        // One change of the schema at a time.
        try connection.execute("SELECT pg_advisory_xact_lock(\(PostgresMigrations.lock))", step: step)
        try connection.execute(
            """
            CREATE SCHEMA IF NOT EXISTS kii_push;
            CREATE TABLE IF NOT EXISTS kii_push.migration (
                version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())
            """, step: step)
        try self.requireUnicode(connection)
        let version = try self.version(of: connection)
        try self.refuseNewer(version)
        for (index, sql) in PostgresMigrations.all.enumerated().dropFirst(version) {
            try connection.execute(sql, step: step)
            try connection.execute("INSERT INTO kii_push.migration (version) VALUES (\(index + 1))", step: step)
        }
        try connection.execute("COMMIT", step: step)
    }

    /// The version of the schema that is there; 0 for none.
    static func installedVersion(_ connection: BlockingPostgres) throws(InboxError) -> Int {
        let found = try connection.rows(
            "SELECT to_regclass('kii_push.migration') IS NOT NULL", step: "reading the schema")
        return found.integer(0, 0) == 1 ? try self.version(of: connection) : 0
    }

    /// Throws unless the schema is of this version.
    static func check(_ connection: BlockingPostgres) throws(InboxError) {
        let version = try self.installedVersion(connection)
        guard version > 0 else { throw InboxError(.noSchema, step: "looking for the schema kii_push") }
        try self.refuseNewer(version)
        guard version == self.version else {
            throw InboxError(.olderVersion(version), step: "using a database of an older version")
        }
    }

    /// Throws unless the role may do what a gateway does: one that lacks a right would keep shards and not receive for them.
    static func checkRights(_ connection: BlockingPostgres) throws(InboxError) {
        let tables = try connection.rows(
            """
            SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class
            WHERE relnamespace = 'kii_push'::regnamespace AND relkind = 'r' AND relname <> 'migration'
                AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
                    AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
            """, step: "reading this role's rights"
        ).text(0, 0)
        if let tables {
            throw InboxError(.notPermitted, step: "using the tables \(tables) of kii_push", sqlState: "42501")
        }
    }

    /// Topics and reasons may have any character.
    private static func requireUnicode(_ connection: BlockingPostgres) throws(InboxError) {
        let rows = try connection.rows(
            "SELECT pg_catalog.getdatabaseencoding()", step: "reading the database's encoding")
        guard rows.text(0, 0) == "UTF8" else {
            throw InboxError(.noSchema, step: "using a database whose encoding is not UTF8")
        }
    }

    private static func refuseNewer(_ version: Int) throws(InboxError) {
        guard version <= self.version else {
            throw InboxError(.newerVersion(version), step: "using a database of a newer version")
        }
    }

    private static func version(of connection: BlockingPostgres) throws(InboxError) -> Int {
        let rows = try connection.rows(
            "SELECT coalesce(max(version), 0) FROM kii_push.migration", step: "reading the schema's version")
        return Int(rows.integer(0, 0))
    }
}
#endif
