#if Postgres
import Foundation
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

@Suite struct PostgresSchemaTests {
    @Test func aDatabaseThatIsNotUsableSaysWhatToDo() async throws {
        let target = try await PostgresServer.database()
        func failure() async -> InboxError? {
            await #expect(throws: InboxError.self) {
                _ = try await StorePlace(kind: .postgres, address: target).open()
            }
        }
        #expect(await failure()?.kind == .noSchema)
        let latin = target.replacingOccurrences(of: "dbname=", with: "dbname=latin")
        try await PostgresServer.run(
            "CREATE DATABASE \(latin.split(separator: "=").last ?? "") ENCODING 'LATIN1' TEMPLATE template0", at: target
        )
        let encoding = await #expect(throws: InboxError.self) {
            try await onThread { try PostgresSchema.make(latin) }
        }
        #expect(encoding?.description.contains("UTF8") == true)
        try await onThread { try PostgresSchema.make(target) }
        // A second call changes nothing.
        try await onThread { try PostgresSchema.make(target) }
        try await PostgresServer.run("INSERT INTO kii_push.migration (version) VALUES (99)", at: target)
        #expect(await failure()?.kind == .newerVersion(99))
        let error = await #expect(throws: InboxError.self) { try await onThread { try PostgresSchema.make(target) } }
        #expect(error?.kind == .newerVersion(99))
        // A backup that is being restored looks like this.
        try await PostgresServer.run("TRUNCATE kii_push.migration", at: target)
        #expect(await failure()?.kind == .halfMade)
        let nowhere = StorePlace(kind: .postgres, address: "host=/nowhere user=kii password=secret-word dbname=x")
        let away = await #expect(throws: InboxError.self) { _ = try await nowhere.open() }
        #expect(away?.kind == .away)
        #expect(away?.description.contains("/nowhere") == true)
        #expect(away?.description.contains("secret-word") == false)
        let nonsense = StorePlace(kind: .postgres, address: "host=/nowhere password='secret-word")
        let unread = await #expect(throws: InboxError.self) { _ = try await nonsense.open() }
        #expect(unread?.description.contains("secret-word") == false)
    }

    /// A gateway trusts tables of administrators and of the database's owner. An administrator trusts only tables of
    /// administrators.
    @Test func theTablesAreAnAdministratorsOrTheDatabasesOwners() async throws {
        let target = try await PostgresServer.database()
        let database = target.split(separator: "=").last ?? ""
        let suffix = UUID().uuidString.lowercased().filter { $0 != "-" }
        func address(of role: String) -> String {
            target.replacingOccurrences(of: "user=kii", with: "user=\(role)\(suffix)")
        }
        func failure(_ role: String) async -> InboxError.Kind? {
            do {
                _ = try await StorePlace(kind: .postgres, address: role == "kii" ? target : address(of: role)).open()
                return nil
            } catch {
                return (error as? InboxError)?.kind
            }
        }
        try await PostgresServer.run(
            """
            CREATE ROLE owner\(suffix) LOGIN; CREATE ROLE gateway\(suffix) LOGIN; CREATE ROLE other\(suffix) LOGIN;
            ALTER DATABASE \(database) OWNER TO owner\(suffix); GRANT CREATE ON DATABASE \(database) TO other\(suffix)
            """, at: target)
        for role in ["owner", "other"] {
            let own = address(of: role)
            try await onThread { try PostgresSchema.make(own) }
            try await PostgresServer.run(
                """
                GRANT USAGE ON SCHEMA kii_push TO gateway\(suffix);
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA kii_push TO gateway\(suffix);
                GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA kii_push TO gateway\(suffix)
                """, at: own)
            #expect(await failure("gateway") == (role == "owner" ? nil : .notTrusted))
            #expect(await failure(role) == nil)
            #expect(await failure("kii") == .notTrusted)
            // A second call changes nothing.
            try await onThread { try PostgresSchema.make(own) }
            try await PostgresServer.run("DROP SCHEMA kii_push CASCADE", at: own)
        }
        // An empty schema that the administrator created for the owner.
        try await PostgresServer.run("CREATE SCHEMA kii_push AUTHORIZATION owner\(suffix)", at: target)
        let owners = address(of: "owner")
        try await onThread { try PostgresSchema.make(owners) }
        #expect(await failure("owner") == nil)
    }

    /// The caller has other operators of the same names in its search path.
    @Test func functionsGoByTheirOwnPath() async throws {
        let target = try await PostgresServer.database()
        try await onThread { try PostgresSchema.make(target) }
        let types = ["integer", "bigint", "text", "timestamptz"]
        let operators = types.flatMap { type in
            ["=", "<", "<=", ">", "<>", "%", "*", "+", "-"].map { name in
                """
                CREATE OPERATOR evil.\(name) (leftarg = \(type), rightarg = \(type), function = evil.\(type));
                """
            }
        }
        let functions = types.map { type in
            """
            CREATE FUNCTION evil.\(type)(\(type), \(type)) RETURNS boolean LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'evil'; END $$;
            """
        }
        try await PostgresServer.run(
            """
            CREATE SCHEMA evil; \(functions.joined()) \(operators.joined())
            CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'evil'; END $$;
            CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'evil'; END $$;
            """, at: target)
        for call in [
            "now_ms()", "shard_of('a')", "is_over(now())", "take_name('one', 'host', 1, 10000)",
            "dismiss_agent('a')", "begin_work('{}', '{}')", "go_on_with_work()",
            "end_work()", "cut_off(1)",
        ] {
            try await PostgresServer.run("SET search_path = evil, pg_catalog; SELECT FROM kii_push.\(call)", at: target)
        }
        // `end_work` sets the session's path, so it qualifies each name.
        let inherited = """
            SELECT proname FROM pg_proc WHERE pronamespace = 'kii_push'::regnamespace AND prosqlbody IS NULL
                AND array_to_string(proconfig, ' ') IS DISTINCT FROM 'search_path=pg_catalog, pg_temp'
            """
        #expect(try await PostgresServer.run(inherited, at: target) == "end_work\n")
    }
}
#endif
