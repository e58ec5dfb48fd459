#if Postgres
package import KiiPushCore

package enum PostgresSchema {
    static let version = 1
    private static let foreignKeys: Int64 = 3

    /// Creates missing tables, in one transaction. Blocks the calling thread.
    package static func make(_ target: String) throws(InboxError) {
        let connection = try BlockingPostgres(target, name: "kii-push-gateway store")
        let step = try self.making(on: connection)
        try connection.execute("BEGIN", step: step)
        try connection.execute("SELECT pg_advisory_xact_lock(\(self.lock))", step: step)
        try self.requireUnicode(connection)
        // Fails if another user creates the schema at this moment: the schema could run that user's code.
        if try !self.has("to_regnamespace('kii_push')", connection) {
            try connection.execute("CREATE SCHEMA kii_push", step: step)
        }
        if try self.installedVersion(connection) == 0 {
            try connection.execute(self.tables, step: step)
            try connection.execute(self.functions, step: step)
            try connection.execute("INSERT INTO kii_push.migration (version) VALUES (\(self.version))", step: step)
        }
        try connection.execute("COMMIT", step: step)
    }

    private static func making(on connection: BlockingPostgres) throws(InboxError) -> String {
        let roles = try connection.rows(
            """
            SELECT format(' as %s in %s, a database of %s,', current_user, datname, pg_get_userbyid(datdba))
            FROM pg_database WHERE datname = current_database()
            """, step: "reading who owns the database")
        return "making the schema" + (roles.text(0, 0) ?? "")
    }

    /// The installed version of the schema; 0 if there is none.
    ///
    /// - Throws: ``InboxError`` for a newer version than this library's, for objects of untrusted roles, and for tables
    ///   without a version or foreign keys. A backup restores tables first, rows second, and foreign keys last.
    static func installedVersion(_ connection: BlockingPostgres) throws(InboxError) -> Int {
        try self.checkOwners(connection)
        let version =
            try self.has("to_regclass('kii_push.migration')", connection) ? try self.version(of: connection) : 0
        guard version <= self.version else {
            throw InboxError(.newerVersion(version), step: "using a database of a newer version")
        }
        let keys = try connection.rows(
            """
            SELECT count(*) FROM pg_constraint
            WHERE connamespace = to_regnamespace('kii_push') AND contype = 'f'
            """, step: "reading the schema's keys"
        ).integer(0, 0)
        if version > 0, keys >= self.foreignKeys { return version }
        guard try !self.has("to_regclass('kii_push.gateway')", connection) else {
            throw InboxError(.halfMade, step: "reading the schema's version")
        }
        return version
    }

    private static func has(_ object: String, _ connection: BlockingPostgres) throws(InboxError) -> Bool {
        try connection.rows("SELECT (\(object) IS NOT NULL)::integer", step: "reading the schema").integer(0, 0) != 0
    }

    /// Throws if an untrusted role owns an object of the schema: triggers, views and functions run with the rights of
    /// the caller. Trusted are this role and superusers. A role that is no superuser also trusts the database's owner.
    private static func checkOwners(_ connection: BlockingPostgres) throws(InboxError) {
        let others = try connection.rows(
            """
            WITH me AS (SELECT oid, rolsuper FROM pg_roles WHERE rolname = current_user), schema AS (
                SELECT oid, nspowner FROM pg_namespace WHERE nspname = 'kii_push'
            ), found (thing, owner) AS (
                SELECT 'the schema', nspowner FROM schema
                UNION ALL SELECT relname, relowner FROM pg_class JOIN schema ON schema.oid = relnamespace
                    WHERE relkind <> 'i'
                UNION ALL SELECT proname, proowner FROM pg_proc JOIN schema ON schema.oid = pronamespace
                UNION ALL SELECT tgname, proowner FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
                    JOIN pg_class ON pg_class.oid = tgrelid JOIN schema ON schema.oid = relnamespace
            ), other AS (
                SELECT DISTINCT thing, rolname FROM found JOIN pg_roles AS role ON role.oid = owner, me
                WHERE NOT role.rolsuper AND owner <> me.oid AND (me.rolsuper OR rolname <> 'pg_database_owner'
                    AND owner <> (SELECT datdba FROM pg_database WHERE datname = current_database()))
            )
            SELECT string_agg(thing || ' of ' || rolname, ', '), (SELECT count(*) FROM other)
            FROM (SELECT * FROM other ORDER BY thing = 'the schema' DESC, thing LIMIT 5) AS first
            """, step: "reading who owns the schema")
        guard let names = others.text(0, 0) else { return }
        let count = others.integer(0, 1)
        throw InboxError(
            .notTrusted,
            step: "using what is in kii_push (\(names)\(count > 5 ? " and \(count - 5) more" : ""))")
    }

    static func check(_ connection: BlockingPostgres) throws(InboxError) {
        guard try self.installedVersion(connection) > 0 else {
            throw InboxError(.noSchema, step: "looking for the schema kii_push")
        }
    }

    /// Throws unless the role has the rights of a gateway. Without them the gateway would hold shards and receive no
    /// messages.
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

    private static func requireUnicode(_ connection: BlockingPostgres) throws(InboxError) {
        let rows = try connection.rows(
            "SELECT getdatabaseencoding()", step: "reading the database's encoding")
        guard rows.text(0, 0) == "UTF8" else {
            throw InboxError(.noSchema, step: "using a database whose encoding is not UTF8")
        }
    }

    private static func version(of connection: BlockingPostgres) throws(InboxError) -> Int {
        let rows = try connection.rows(
            "SELECT coalesce(max(version), 0) FROM kii_push.migration", step: "reading the schema's version")
        return Int(rows.integer(0, 0))
    }
}
#endif
