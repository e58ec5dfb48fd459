#if Postgres
import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

/// Databases and connection settings that another role has manipulated.
@Suite(.ownThreads) struct FleetTrustTests {
    /// Makes a role that may log in and create schemas in the database.
    /// - Returns: its name, and the database's address for that role.
    private func stranger(at target: String) async throws -> (role: String, target: String) {
        let role = "mallory_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let database = target.split(separator: "=").last ?? ""
        try await PostgresServer.run(
            "CREATE ROLE \(role) LOGIN; GRANT CREATE ON DATABASE \(database) TO \(role)", at: target)
        return (role, target.replacing("user=kii", with: "user=\(role)"))
    }

    private static let attack = """
        CREATE FUNCTION kii_push.attack() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            EXECUTE 'ALTER ROLE ' || TG_ARGV[0] || ' SUPERUSER'; RETURN NEW; END $$;
        """

    /// Each trap waits to run with an administrator's rights.
    @Test(arguments: ["trigger", "view"]) func whatAnotherRoleHasPreparedIsRefused(trap: String) async throws {
        let target = try await PostgresServer.database()
        let mallory = try await self.stranger(at: target)
        let prepared =
            trap == "trigger"
            ? """
            \(Self.attack)
            CREATE TABLE kii_push.migration (version integer PRIMARY KEY, applied_at timestamptz DEFAULT now());
            CREATE TRIGGER attack BEFORE INSERT ON kii_push.migration
                FOR EACH ROW EXECUTE FUNCTION kii_push.attack('\(mallory.role)')
            """
            : """
            CREATE FUNCTION kii_push.attack() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
                EXECUTE 'ALTER ROLE \(mallory.role) SUPERUSER'; RETURN 1; END $$;
            CREATE VIEW kii_push.migration AS SELECT kii_push.attack() AS version
            """
        try await PostgresServer.run("CREATE SCHEMA kii_push; \(prepared)", at: mallory.target)
        let tool = try Tool("kii-push-gateway")
        for words in [
            ["store", "init"], ["store", "check"], ["fleet", "list"],
            ["run", "--exec", "true", "--gateway", "one"],
        ] {
            let result = try tool.start(words + ["--store", target]).waitForExit()
            #expect(result.exit == 78, "\(words): \(result.error)")
            #expect(result.error.contains(mallory.role), "\(result.error)")
            #expect(result.error.contains("DROP SCHEMA kii_push CASCADE"), "\(result.error)")
        }
        let rights = "SELECT rolsuper FROM pg_roles WHERE rolname = '\(mallory.role)'"
        #expect(try await PostgresServer.run(rights, at: target) == "f\n")
    }

    /// The schema belongs to the administrator, but another role has too many rights in it.
    @Test func whatAnotherRoleHasAddedIsRefused() async throws {
        let target = try await PostgresServer.database()
        let mallory = try await self.stranger(at: target)
        let tool = try Tool("kii-push-gateway")
        #expect(try tool("store", "init", "--store", target).exit == 0)
        try await PostgresServer.run(
            """
            GRANT CREATE, USAGE ON SCHEMA kii_push TO \(mallory.role);
            GRANT TRIGGER ON kii_push.gateway TO \(mallory.role)
            """, at: target)
        #expect(try tool("store", "check", "--store", target).exit == 0)
        try await PostgresServer.run(
            """
            CREATE SCHEMA \(mallory.role);
            \(Self.attack.replacing("kii_push", with: mallory.role))
            CREATE TRIGGER planted BEFORE INSERT ON kii_push.gateway
                FOR EACH ROW EXECUTE FUNCTION \(mallory.role).attack('\(mallory.role)')
            """, at: mallory.target)
        let words = ["run", "--exec", "true", "--gateway", "one", "--store", target]
        let gateway = try tool.start(words).waitForExit()
        #expect(gateway.exit == 78, "\(gateway.error)")
        #expect(gateway.error.contains("planted of \(mallory.role)"), "\(gateway.error)")
        try await PostgresServer.run(
            "DROP TRIGGER planted ON kii_push.gateway; CREATE TABLE kii_push.more (n integer)", at: target)
        #expect(try tool("store", "check", "--store", target).exit == 0)
        try await PostgresServer.run("ALTER TABLE kii_push.more OWNER TO \(mallory.role)", at: target)
        let check = try tool("store", "check", "--store", target)
        #expect(check.exit == 78)
        #expect(check.error.contains("more of \(mallory.role)"), "\(check.error)")
    }

    @Test func whoMayMakeNoSchemaLearnsWhomToAsk() async throws {
        let target = try await PostgresServer.database()
        let database = target.split(separator: "=").last ?? ""
        let role = "poor_" + UUID().uuidString.prefix(8).lowercased()
        try await PostgresServer.run("CREATE ROLE \(role) LOGIN", at: target)
        let words = ["store", "init", "--store", target.replacing("user=kii", with: "user=\(role)")]
        let refused = try Tool("kii-push-gateway").start(words).waitForExit()
        #expect(refused.exit == 74, "\(refused.error)")
        #expect(refused.error.contains("as \(role) in \(database), a database of kii, failed"), "\(refused.error)")
        #expect(refused.error.contains("do it as that owner"), "\(refused.error)")
        try await PostgresServer.run("ALTER DATABASE \(database) OWNER TO \(role)", at: target)
        #expect(try Tool("kii-push-gateway").start(words).waitForExit().exit == 0)
    }

    // MARK: - Targets of addresses

    /// Asks the client for a cleartext password, and returns its answer.
    private static func password(at listener: Int32) -> String? {
        let asking: [UInt8] = [0x52, 0, 0, 0, 8, 0, 0, 0, 3]
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 1024)
            while true {
                let count = read(descriptor, &bytes, bytes.count)
                guard count > 0 else { break }
                // A request for TLS or GSSAPI; the server refuses it.
                if count == 8 {
                    guard write(descriptor, [UInt8](arrayLiteral: 0x4E), 1) == 1 else { break }
                } else if bytes[0] == UInt8(ascii: "p") {
                    return String(decoding: bytes[5..<max(5, count - 1)], as: UTF8.self)
                } else {
                    guard write(descriptor, asking, 9) == 9 else { break }
                }
            }
        }
    }

    /// The password file knows the server as `localhost`, but the connection goes elsewhere.
    @Test(arguments: [
        "postgres://gw@localhost/kii?service=elsewhere", "service=elsewhere",
        "postgres://gw@localhost/kii?hostaddr=0.0.0.0&sslmode=disable&port=PORT",
        "host=/tmp,localhost hostaddr=127.0.0.1,0.0.0.0 sslmode=disable port=1,PORT dbname=kii user=gw", "ENVIRONMENT",
    ])
    func noPasswordGoesToAnotherMachineInTheClear(address: String) async throws {
        let elsewhere = try Loopback.listening()
        async let heard = onThread { Self.password(at: elsewhere.descriptor) }
        let tool = try Tool("kii-push-gateway")
        // An address of this machine that does not look like a local one.
        let service = """
            [elsewhere]
            hostaddr=0.0.0.0
            host=localhost
            user=gw
            dbname=kii
            port=\(elsewhere.port)
            sslmode=disable
            """
        var environment = [
            "PGSERVICEFILE": try tool.write(service, to: "services"),
            "PGPASSFILE": try tool.write("localhost:*:*:gw:hunter2\n127.0.0.1:*:*:gw:hunter2\n", to: "passwords"),
        ]
        var target = address.replacing("PORT", with: "\(elsewhere.port)")
        if address == "ENVIRONMENT" {
            target = "postgres://gw@localhost/kii"
            environment.merge([
                "PGHOSTADDR": "0.0.0.0", "PGPORT": "\(elsewhere.port)", "PGSSLMODE": "disable",
            ]) { $1 }
        }
        let result = try tool.start(["store", "check", "--store", target], environment: environment).waitForExit()
        shutdown(elsewhere.descriptor, Int32(SHUT_RDWR))
        #expect(try await heard == nil)
        close(elsewhere.descriptor)
        #expect(result.exit == 78, "\(result.error)")
        #expect(result.error.contains("on another machine (0.0.0.0) with sslmode=disable"), "\(result.error)")
    }

    /// If the folder has access control lists, the mode of systemd's credential shows the list's mask as the group's
    /// rights.
    @Test(arguments: [0o400, 0o440]) func thePasswordThatSystemdHandsOverIsUsed(mode: Int) async throws {
        let server = try Loopback.listening()
        async let heard = onThread { Self.password(at: server.descriptor) }
        let tool = try Tool("kii-push-gateway")
        try tool.write("127.0.0.1:*:*:gw:hunter2\n", to: "credentials/pgpass", mode: mode)
        let target = "postgres://gw@127.0.0.1:\(server.port)/kii"
        let result = try tool.start(
            ["store", "check", "--store", target],
            environment: ["CREDENTIALS_DIRECTORY": tool.home.path + "/credentials"]
        ).waitForExit()
        shutdown(server.descriptor, Int32(SHUT_RDWR))
        #expect(try await heard == "hunter2")
        close(server.descriptor)
        #expect(!result.error.contains("hunter2"))
    }

    /// Settings from any source that weaken TLS.
    @Test(arguments: [
        ("postgres://kii@db.invalid/kii?sslmode=require", [:], "sslmode=require"),
        ("host=db.invalid sslmode=prefer", [:], "sslmode=prefer"),
        ("host=/tmp,db.invalid", ["PGSSLMODE": "allow"], "sslmode=allow"),
        ("postgres://kii@db.invalid/kii", ["PGGSSENCMODE": "require"], "gssencmode=require"),
        ("postgres://kii@db.invalid/kii?ssl_min_protocol_version=TLSv1", [:], "ssl_min_protocol_version=TLSv1"),
        ("host=db.invalid sslcompression=1", [:], "sslcompression=1"),
        ("host=localhost.evil.invalid sslmode=disable", [:], "sslmode=disable"),
        ("host=127.0.0.1.evil.invalid sslmode=disable", [:], "sslmode=disable"),
        ("service=nowhere", ["PGSERVICEFILE": "/dev/null"], "\"nowhere\""),
        ("host=db.invalid dbname=kii user=gw sslpassword=hunter2", [:], "PGPASSFILE names"),
    ])
    func whatWeakensAConnectionIsRefused(address: String, environment: [String: String], word: String) throws {
        let result = try Tool("kii-push-gateway").start(
            ["store", "check", "--store", address], environment: environment
        ).waitForExit()
        #expect(result.exit == 78, "\(result.error)")
        #expect(result.error.contains(word), "\(result.error)")
        #expect(!result.error.contains("hunter2"))
    }

    /// The name does not resolve: the error shows that the tool tried to connect.
    @Test(arguments: [
        ["PGSSLMODE": "prefer"], ["PGGSSENCMODE": "prefer"], ["PGSSLMODE": "verify-full"],
        ["PGSSLMINPROTOCOLVERSION": "TLSv1.3"],
    ])
    func whatDoesNotWeakenItIsTaken(environment: [String: String]) throws {
        let address = "postgres://kii@db.invalid/kii"
        let result = try Tool("kii-push-gateway").start(
            ["store", "check", "--store", address], environment: environment
        ).waitForExit()
        #expect(result.exit == 74, "\(result.error)")
    }
}
#endif
