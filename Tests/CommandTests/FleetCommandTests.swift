import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct FleetCommandTests {
    #if Postgres
    @Test func agentsAreDeclaredReceivedForAndRemoved() async throws {
        let target = try await PostgresServer.database()
        let session = try EmulatorSession()
        func run(_ words: String..., input: String? = nil) throws -> Tool.Result {
            try session.tool.start(
                words, program: "kii-push-gateway", input: input, environment: ["KII_PUSH_STORE": target]
            ).waitForExit()
        }
        let missing = try run("store", "check")
        #expect(missing.exit == 78)
        #expect(missing.error.contains("run 'kii-push-gateway store init'"))
        try OutputSchemaTests.check(try run("store", "init", "--json").output, has: "schema")
        #expect(try run("store", "init").exit == 73)
        try await PostgresServer.run("INSERT INTO kii_push.migration (version) VALUES (2)", at: target)
        for word in ["init", "check"] {
            let newer = try run("store", word)
            #expect(newer.exit == 78)
            #expect(newer.error.contains("run the newer version of this program"))
        }
        try await PostgresServer.run("DELETE FROM kii_push.migration WHERE version = 2", at: target)
        #expect(try run("store", "check").output == "> The database has the tables, in version 1.\n")
        // The gateway's role has only the rights that a gateway needs.
        try await PostgresServer.run(
            """
            CREATE ROLE \(Self.role) LOGIN; GRANT USAGE ON SCHEMA kii_push TO \(Self.role);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA kii_push TO \(Self.role);
            REVOKE INSERT, UPDATE, DELETE ON kii_push.migration FROM \(Self.role);
            GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA kii_push TO \(Self.role);
            CREATE ROLE \(Self.operatorRole) LOGIN; GRANT USAGE ON SCHEMA kii_push TO \(Self.operatorRole);
            GRANT SELECT ON kii_push.migration, kii_push.gateway, kii_push.installation, kii_push.message,
                kii_push.event, kii_push.message_block TO \(Self.operatorRole);
            GRANT SELECT, INSERT, DELETE ON kii_push.request TO \(Self.operatorRole)
            """, at: target)
        let asOperator = target.replacing("user=kii", with: "user=\(Self.operatorRole)")
        let asGateway = target.replacing("user=kii", with: "user=\(Self.role)")
        try session.succeed("register")
        try session.succeed("subscribe", "news")
        let file = session.tool.home.appending(path: "run/kii-push/emulator.json")
        let emulator = try JSONValue(parsing: Array(try Data(contentsOf: file)))
        let (url, key) = (emulator["baseURL"]?.string ?? "", emulator["appKey"]?.string ?? "")
        let agent = """
            {"name": "lamp-1", "app": {"id": "kiilocal", "key": "\(key)", "baseURL": "\(url)"}, "usesTLS": false,
            "account": {"type": "thing", "vendorThingID": "lamp-1", "password": "pw"},
            "subscriptions": [{"topic": "news"}]}
            """
        #expect(try run("fleet", "add", "-", input: "[\(agent), \(agent)]").exit == 78)
        let wrong = try run("fleet", "add", "-", input: #"[{"name": "lamp-1"}]"#)
        #expect(wrong.exit == 65)
        #expect(wrong.error.contains("-:1:2: /0/account is missing"))
        let nameless = try run("fleet", "add", "-", input: agent.replacing(#""name": "lamp-1","#, with: ""))
        #expect(nameless.exit == 65)
        #expect(nameless.error.contains("/name is missing"))
        let several = try run("inbox", "stats", "--store", asOperator, "--store", target)
        #expect(several.exit == 78 && several.error.contains("messages are looked at in one"), "\(several.error)")
        #expect(try run("store", "check", "--store", asGateway).exit == 0)
        #expect(try run("store", "check", "--store", asOperator).exit == 74)
        let unable = try run("run", "--store", asOperator, "--gateway", "two", "--exec", "true")
        #expect(unable.exit == 74)
        #expect(unable.error.contains("using the tables agent, "), "\(unable.error)")
        try OutputSchemaTests.check(try run("fleet", "add", "-", "--json", input: agent).output, has: "agent")
        #expect(try run("fleet", "list").output == "lamp-1\n")

        let metrics = session.tool.home.path + "/m.prom"
        let gateway = try session.tool.start(
            [
                "run", "--store", asGateway, "--gateway", "one", "-v", "--shell", "--exec",
                "[ \"$KII_PUSH_AGENT\" = lamp-1 ] && grep -q hi || exit 65",
            ]
                + ["--metrics-file", metrics], program: "kii-push-gateway")
        #expect(
            gateway.error(containing: "lamp-1: connected").contains(
                "> one: 1024 of 1024 shards with 1 agent; 1 gateway shares."))
        // The profile is one receiver. The gateway's agent becomes the second once it is subscribed.
        gateway.waitUntil {
            try session.succeed("send", "topic", "news", "--data", #"{"msg":"hi"}"#, "--json").contains(
                #""receivers":2"#)
        }
        #expect(gateway.output(containing: "<-- newData").contains("  lamp-1  exec sh  exit 0"))
        try OutputSchemaTests.check(try run("fleet", "status", "--json").output, has: "gateway", "fleet")
        // An operator can read the gateway's inbox from any machine.
        let stored = try run("inbox", "list", "--state", "done", "--store", asOperator, "--json").output
        let number = try JSONValue(parsing: stored.split(separator: "\n").first.map(String.init) ?? "")["id"]?.int64
        let trace = try run("trace", "\(number ?? 0)", "--store", asGateway, "--payload")
        #expect(trace.exit == 0 && trace.output.contains("newData") && trace.output.contains(#""msg":"hi""#))
        #expect(try run("trace", "1", "--store", asGateway).exit == 66)
        #expect(
            try run("inbox", "list", "-n1", "--state", "done", "--store", asGateway).output.split(separator: "\n").count
                == 1)
        #expect(try run("inbox", "stats", "--store", asOperator).output.contains("done"))
        let doctor = try run("doctor", "--store", asGateway)
        #expect(doctor.exit == 0 && doctor.output.contains("1 gateway alive"), "\(doctor.output)\(doctor.error)")
        let id = "\(number ?? 0)"
        try await PostgresServer.run("UPDATE kii_push.message SET state = 5 WHERE sequence = \(id)", at: target)
        let retried = try run("inbox", "retry", "--all", "--store", asOperator)
        #expect(retried.output == "retried #\(id)\n", "\(retried.error)")
        _ = gateway.output { output in
            output.split(separator: "\n").count { $0.contains("<-- newData ") && $0.contains(" #\(id) ") } == 2
        }
        let dropped = try run("inbox", "drop", id, "1", "--store", asOperator)
        #expect(dropped.output == "dropped #\(id)\n" && dropped.exit == 66, "\(dropped.error)")
        #expect(dropped.error.contains("#1 cannot be dropped: it is not in the inbox"))
        #expect(try run("trace", id, "--store", asOperator).exit == 66)
        let status = try run("fleet", "status")
        #expect(status.output.hasPrefix("one: alive, process \(gateway.processID) on "))
        _ = try await session.control("POST", "faults", ["script": "lose session of any"])
        let warning = "warning: lamp-1: session lost: "
        #expect(gateway.error(containing: warning).contains(warning))
        // SIGHUP: the gateway has no files to reload; it reports its state.
        gateway.signal(SIGHUP)
        #expect(gateway.error(containing: "nothing is read again").contains("nothing is read again"))
        gateway.signal(SIGUSR1)
        let state = try #require(
            gateway.error(containing: #""type":"service""#).split(separator: "\n").last { $0.hasPrefix("{") })
        try OutputSchemaTests.check(String(state), has: "service")
        let share = try JSONValue(parsing: String(state))["databases"]?[0]
        #expect([share?["shards"], share?["agents"]] == [1024, 1])
        let second = try session.tool.start(
            ["run", "--store", asGateway, "--gateway", "one", "--exec", "true"], program: "kii-push-gateway"
        ).waitForExit()
        #expect(second.exit == 75)
        #expect(second.error.contains("gateway one is process \(gateway.processID) on "))
        try OutputSchemaTests.check(try run("fleet", "drain", "one", "--json").output, has: "drained")
        #expect(gateway.error(containing: "one: 0 of 1024 shards").contains("0 of 1024 shards"))
        #expect(try run("fleet", "drain", "nobody").exit == 66)
        gateway.signal(SIGTERM)
        #expect(gateway.waitForExit().exit == 0)
        let numbers = try String(contentsOfFile: metrics, encoding: .utf8)
        #expect(numbers.contains("\nkii_push_held_shards{database=\"1\"} 0\n"), "\(numbers)")
        #expect(numbers.contains("\nkii_push_lag_seconds{database=\"1\"} 0.000000\n"))
        #expect(numbers.contains("\nkii_push_settled_messages_total{outcome=\"newData\"} "))
        try await PostgresServer.run(
            """
            INSERT INTO kii_push.message SELECT key, 7, 5, 10, 0, 0, 0, 0, 1, 1, 0, false, false, 1, 1, NULL, NULL,
                'news', '' FROM kii_push.installation LIMIT 1
            """, at: target)
        let asked = try run("inbox", "retry", "7", "--store", asOperator)
        #expect(asked.exit == 75 && asked.error.contains("#7 is asked for, but no gateway has answered"))
        #expect(try run("fleet", "remove", "lamp-1").exit == 0)
        #expect(try run("fleet", "remove", "nobody").exit == 66)
        #expect(try run("fleet", "status").output.contains("one: stopped for "))
    }

    @Test func anOutputThatNobodyReadsHoldsUpNothing() async throws {
        let target = try await PostgresServer.database()
        let session = try EmulatorSession()
        let url = try session.runtimeFile()["baseURL"]?.string ?? ""
        let key = try session.runtimeFile()["appKey"]?.string ?? ""
        let agent = """
            {"name": "lamp-1", "app": {"id": "kiilocal", "key": "\(key)", "baseURL": "\(url)"}, "usesTLS": false,
            "account": {"type": "pseudoUser"}, "subscriptions": [{"topic": "news"}]}
            """
        try session.succeed("register")
        try session.succeed("subscribe", "news")
        let made = try session.tool.start(["store", "init", "--store", target], program: "kii-push-gateway")
        #expect(made.waitForExit().exit == 0)
        let added = try session.tool.start(
            ["fleet", "add", "-", "--store", target], program: "kii-push-gateway", input: agent
        ).waitForExit()
        #expect(added.exit == 0)
        let path = session.tool.home.path + "/output"
        #expect(mkfifo(path, 0o600) == 0)
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(descriptor) }
        let filling = [UInt8](repeating: 10, count: 4096)
        while write(descriptor, filling, filling.count) > 0 {}
        let program = try Tool.executable("kii-push-gateway").path
        let words = ["bash", "-c", #"exec "$@" > "$0""#, path, program, "run", "--store", target]
        let gateway = try RunningTool(
            words + ["-v", "--gateway", "one", "--exec", "true"], environment: session.tool.environment)
        // The broker keeps no messages for the agent before this connection.
        #expect(gateway.error(containing: "lamp-1: connected").contains("lamp-1: connected"))
        gateway.waitUntil {
            try session.succeed("send", "topic", "news", "--data", #"{"msg":"hi"}"#, "--json").contains(
                #""receivers":2"#)
        }
        try await PostgresServer.wait(until: "EXISTS (SELECT FROM kii_push.message WHERE state = 4)", at: target)
        gateway.signal(SIGTERM)
        #expect(gateway.waitForExit().exit == 0)
    }

    private static let role = "gateway_\(getpid())"
    private static let operatorRole = "operator_\(getpid())"

    /// A password neither appears in a list of processes nor crosses a network in the clear.
    @Test(arguments: [
        ("postgres://kii:hunter2@localhost/kii", "PGPASSFILE names"),
        ("postgres://kii@db.example.org/kii?sslmode=require", "sslmode=verify-full"),
        ("host=db.example.org sslmode=prefer", "sslmode=verify-full"),
        ("service=elsewhere sslmode=prefer", "sslmode=verify-full"), ("hunter2 what", "dbname=NAME"),
    ])
    func anAddressThatIsNotSafeIsRefused(address: String, advice: String) throws {
        let result = try Tool("kii-push-gateway")("store", "check", "--store", address)
        #expect(result.exit == 78)
        #expect(result.error.contains(advice), "\(result.error)")
        #expect(!result.error.contains("hunter2"))
    }

    /// The tool accepts the address without TLS options and tries to connect. The name does not resolve.
    @Test func aServerThatIsNotThereIsNamed() throws {
        let result = try Tool("kii-push-gateway")("store", "check", "--store", "postgres://kii@db.invalid/kii")
        #expect(result.exit == 74)
        #expect(result.error.contains("db.invalid"))
    }

    @Test(arguments: [
        ["--activate", "true"], ["--exec", "true", "--exit-when-offline", "5s"],
        ["--exec", "true", "--keep-alive", "30s"],
        ["--exec", "true", "--profile", "p"],
    ])
    func whatAGatewayCannotDoIsRefused(words: [String]) throws {
        let result = try Tool("kii-push-gateway").start(["run", "--store", "postgres://localhost/kii"] + words)
            .waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.contains("unknown option"))
    }

    @Test func aGatewayNeedsSomebodyToHandleMessages() throws {
        let result = try Tool("kii-push-gateway")("run", "--store", "postgres://localhost/kii")
        #expect(result.exit == 64)
        #expect(result.error.contains("'--exec COMMAND' or '--forward-to URL' is missing"))
        #expect(try Tool("kii-push-gateway")("run", "--gateway", "one", "--exec", "true").exit == 78)
        let tool = try Tool("kii-push-gateway")
        let name = try tool("run", "--store", "postgres://localhost/kii", "--gateway", "../../x", "--exec", "true")
        #expect(name.exit == 64)
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path + "/state").isEmpty)
    }
    #else
    @Test func aProgramWithoutPostgreSQLSaysSo() throws {
        let result = try Tool("kii-push-gateway")("run", "--exec", "true")
        #expect(result.exit == 78)
        #expect(result.error.contains("built without PostgreSQL"), "\(result.error)")
    }
    #endif

    /// `kii-push` has no command or option of a gateway, and names the program that has them.
    @Test(arguments: [
        ["fleet", "status"], ["store", "check"], ["run", "--gateway", "one", "--exec", "true"],
        ["run", "--store", "postgres://localhost/kii", "--exec", "true"],
        ["inbox", "list", "--store=postgres://localhost/kii"],
        ["inbox", "retry", "1", "--store", "postgres://localhost/kii"],
        ["trace", "1", "--store", "postgres://localhost/kii"],
    ])
    func theToolNamesTheProgramOfGateways(words: [String]) throws {
        let result = try Tool().start(words).waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.contains("unknown "), "\(result.error)")
        #expect(result.error.contains("kii-push-gateway"), "\(result.error)")
    }

    /// With a fleet's database in the environment, `run` does not start the receiver of the local profile.
    @Test func theToolRefusesTheDatabaseOfAFleet() throws {
        let tool = try Tool()
        let store = ["KII_PUSH_STORE": "postgres://localhost/kii"]
        let result = try tool("run", "--exec", "true", environment: store)
        #expect(result.exit == 64)
        #expect(result.error.contains("'kii-push-gateway run'"))
        #expect(try tool("run", "--exec", "true", "--profile", "other", environment: store).exit != 64)
        #expect(try tool("run", "--exec", "true", environment: ["KII_PUSH_STORE": ""]).exit != 64)
    }

    @Test func noPageOfTheToolSpeaksOfThem() throws {
        let tool = try Tool()
        let pages = try [["help"], ["help", "--tree"], ["help", "environment"], ["complete", "--", ""]].map { words in
            (words.joined(separator: " "), try tool.start(words).waitForExit().output)
        }
        for (name, text) in pages {
            for word in ["kii-push fleet", "fleet status", "-store", "PUSH_STORE", "PGPASSFILE", "Many machines"] {
                #expect(!name.contains("fleet") && !text.contains(word), "\(name) has \(word)")
            }
        }
    }
}
