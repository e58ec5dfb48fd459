import Glibc

/// The PostgreSQL server that `script/bench` started for a run.
struct BenchDatabase {
    struct Fleet {
        let target: String
        let name: String

        /// Declares agents as after an earlier run, with endpoints at these ports in turn.
        func declare(_ count: Int, at ports: [Int]) throws {
            let list = ports.map(String.init).joined(separator: ",")
            _ = try BenchDatabase.sql(
                """
                INSERT INTO kii_push.agent (name, shard, declaration, state)
                SELECT name, kii_push.shard_of(name), format('{"name":"%s","app":{"id":"bench","key":"key","baseURL":\
                "http://127.0.0.1:9/api"},"account":{"type":"pseudoUser"},"usesTLS":false}', name),
                    format('{"version":1,"appID":"bench","account":"pseudo-user","principalType":"user","principalID":\
                "%s","accessToken":"t","issuer":"http://127.0.0.1:9","installationID":"%s","hasSession":true,\
                "endpoint":{"installationID":"%s","host":"127.0.0.1","portTCP":%s,"portSSL":%s,"mqttTopic":\
                "bench/%s","username":"u","password":"p"}}',
                        name, name, name, port, port, name)
                FROM (SELECT 'agent-' || n AS name, (ARRAY[\(list)])[1 + n % \(ports.count)] AS port
                    FROM generate_series(0, \(count - 1)) AS n) AS agent;
                UPDATE kii_push.shard SET revision = revision + 1
                """, at: self.target)
        }
    }

    private let server: String
    private let bench: Workbench

    init(_ bench: Workbench) throws {
        guard let server = getenv("KII_BENCH_POSTGRES") else {
            throw ChildProcess.Failure(description: "no PostgreSQL: run 'script/bench postgres' alone")
        }
        (self.server, self.bench) = (String(cString: server), bench)
    }

    func make() throws -> Fleet {
        let name = "bench\(try Self.sql("SELECT count(*) FROM pg_database", at: "\(self.server) dbname=postgres"))"
        _ = try Self.sql("CREATE DATABASE \(name)", at: "\(self.server) dbname=postgres")
        let target = "\(self.server) dbname=\(name)"
        guard
            try ChildProcess([self.bench.program("kii-push-gateway"), "store", "init", "--store", target]).wait()
                .succeeded
        else { throw ChildProcess.Failure(description: "no tables in \(name)") }
        return Fleet(target: target, name: name)
    }

    /// The database's counters for a gateway: commits, bytes of write-ahead log, and connections.
    func counters(of gateway: Gateway) throws -> (commits: Double, wal: Double, connections: Double) {
        // A session of PostgreSQL reports its commits once a second.
        usleep(2_000_000)
        let numbers = try Self.sql(
            """
            SELECT xact_commit, pg_current_wal_lsn() - '0/0', (SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE 'kii-push gateway%')
            FROM pg_stat_database WHERE datname = current_database()
            """, at: gateway.database
        ).split(separator: "|").compactMap { Double($0) }
        guard numbers.count == 3 else { throw ChildProcess.Failure(description: "no counters") }
        return (numbers[0], numbers[1], numbers[2])
    }

    func agents(of gateway: Gateway) throws -> Double {
        try self.count("kii_push.agent ON agent.shard = shard.id", gateway)
    }

    func shards(of gateway: Gateway) throws -> Double { try self.count("(SELECT 1) AS one ON true", gateway) }

    private func count(_ what: String, _ gateway: Gateway) throws -> Double {
        let text = try Self.sql(
            """
            SELECT count(*) FROM kii_push.gateway JOIN kii_push.shard ON shard.gateway = gateway.id JOIN \(what)
            WHERE gateway.name = '\(gateway.name)'
            """, at: gateway.database)
        return Double(text) ?? .nan
    }

    func waitForHandled(_ count: Int, of gateway: Gateway) throws {
        while try Self.sql("SELECT count(*) FROM kii_push.message WHERE state = 4", at: gateway.database) != "\(count)"
        {
            usleep(500_000)
        }
    }

    /// The milliseconds from reception to the handler, for the latest `count` messages of a gateway's fleet.
    func lags(of gateway: Gateway, _ count: Int) throws -> (median: Double, p99: Double) {
        let numbers = try Self.sql(
            """
            SELECT percentile_disc(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY started_after)
            FROM (SELECT started_after FROM kii_push.message ORDER BY received_ms DESC LIMIT \(count)) AS latest
            """, at: gateway.database
        ).dropFirst().dropLast().split(separator: ",").compactMap { Double($0) }
        guard numbers.count == 2 else { throw ChildProcess.Failure(description: "no lags") }
        return (numbers[0], numbers[1])
    }

    /// Seconds of a transaction with one small row after a pause, as before a lone message.
    func commitSeconds() throws -> Double {
        let target = try self.make().target
        _ = try Self.sql("CREATE TABLE commits (n bigint)", at: target)
        let script = "\(self.bench.folder)/commit.sql"
        let commit = "INSERT INTO commits VALUES (1);"
        try write("\\sleep 3 ms\n\(commit)\n", to: script)
        let count = self.bench.scaled(500)
        let run = try ChildProcess([
            "sh", "-c",
            "$(ls -d /usr/lib/postgresql/*/bin | tail -1)/pgbench -n -r -t \(count) -f \(script) '\(target)' 2>&1",
        ])
        while let line = run.nextLine() {
            if line.hasSuffix(commit), let value = line.split(separator: " ").first.flatMap({ Double($0) }) {
                return value / 1000
            }
        }
        throw ChildProcess.Failure(description: "pgbench says nothing")
    }

    static func sql(_ text: String, at target: String) throws -> String {
        let run = try ChildProcess(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", target, "-c", text])
        let line = run.nextLine()
        guard run.wait().succeeded else { throw ChildProcess.Failure(description: "SQL failed") }
        return line ?? ""
    }
}
