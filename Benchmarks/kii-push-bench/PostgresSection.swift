import Glibc

/// Gateways that share a PostgreSQL database, beside one gateway with its messages in a file.
enum PostgresSection {
    static func run(_ bench: Workbench, into report: inout Report) throws {
        let database = try BenchDatabase(bench)
        try self.receiving(database, bench, into: &report)
        try self.many(database, bench, into: &report)
        try self.takeover(database, bench, into: &report)
        try self.fleet(database, bench, into: &report)
    }

    private static func receiving(
        _ database: BenchDatabase, _ bench: Workbench, into report: inout Report
    ) throws {
        let (file, shared) = (
            try Gateway(bench, inbox: "file", count: 10), try Gateway(bench, sharing: database.make(), count: 10)
        )
        for gateway in [file, shared] { _ = try gateway.receive(1_000, by: "all") }
        let count = bench.scaled(100_000)
        let results = try report.compare(
            "messages as fast as they are taken, to 10 installations, QoS 1",
            [("file", file), ("PostgreSQL", shared)].map { name, gateway in
                Contender(name: name, count: count) { try gateway.receive(count, by: "all") }
            }, repetitions: bench.repetitions)
        let (rate, rateOfFile) = (results["PostgreSQL", "handled"], results["file", "handled"])
        report.add(
            "handled with PostgreSQL, to 10 installations", ours: Shown.rate(rate),
            against: "file \(Shown.rate(rateOfFile))",
            ratio: Shown.ratio(rate / rateOfFile), target: ">= 0.5x", reached: rate / rateOfFile >= 0.5)
        let (acknowledged, acknowledgedOfFile) = (results["PostgreSQL", "rate"], results["file", "rate"])
        report.add(
            "  acknowledged", ours: Shown.rate(acknowledged), against: "file \(Shown.rate(acknowledgedOfFile))",
            ratio: Shown.ratio(acknowledged / acknowledgedOfFile))
        let before = try database.counters(of: shared)
        _ = try shared.receive(count, by: "all")
        let after = try database.counters(of: shared)
        report.add("  commits a message", ours: Shown.decimals((after.commits - before.commits) / Double(count), 3))
        report.add("  bytes of WAL a message", ours: Shown.decimals((after.wal - before.wal) / Double(count), 0))
        let commit = try database.commitSeconds()
        let lone = try self.lone(bench, file, shared)
        report.add(
            "a lone message, from PUBLISH to PUBACK, p50", ours: Shown.milliseconds(lone.shared),
            against: "file \(Shown.milliseconds(lone.file)); "
                + "a commit after a pause \(Shown.milliseconds(Figure([commit])))",
            ratio: Shown.ratio(lone.shared.median / commit), target: "<= 3 commits",
            reached: lone.shared.median / commit <= 3)
    }

    /// Measures the time from a PUBLISH to its PUBACK, for both gateways in turn.
    private static func lone(
        _ bench: Workbench, _ file: Gateway, _ shared: Gateway
    ) throws -> (file: Figure, shared: Figure) {
        var times: (file: [Double], shared: [Double]) = ([], [])
        for _ in 0..<bench.scaled(500) {
            usleep(2_000)
            times.file.append(try file.receive(1, by: "one")["wall"] ?? .nan)
            times.shared.append(try shared.receive(1, by: "one")["wall"] ?? .nan)
        }
        return (Figure([Figure(times.file).median]), Figure([Figure(times.shared).median]))
    }

    private static func many(_ database: BenchDatabase, _ bench: Workbench, into report: inout Report) throws {
        let few = try Gateway(bench, sharing: database.make(), count: 10)
        let most = try Gateway(bench, sharing: database.make(), count: bench.isQuick ? 500 : 10_000)
        report.add(
            "connecting \(most.count) installations of one gateway",
            ours: Shown.milliseconds(Figure([most.connectSeconds])))
        let each = (most.resident - few.resident) / Double(most.count - few.count)
        report.add("  resident memory of each", ours: Shown.decimals(each / 1024, 1) + " KiB")
        let connections = try database.counters(of: most).connections
        report.add(
            "  connections to the database", ours: Shown.decimals(connections, 0), target: "<= 2",
            reached: connections <= 2)
        _ = try most.receive(most.count, by: "all")
        let rate = try most.receive(bench.scaled(50_000), by: "all")["handled"] ?? .nan
        report.add("  handled a second, to all in turn", ours: Shown.rate(Figure([rate])))
    }

    /// Measures the time from the death of one of two gateways until the other gateway has subscribed for all agents.
    private static func takeover(_ database: BenchDatabase, _ bench: Workbench, into report: inout Report) throws {
        let count = bench.isQuick ? 200 : 5_000
        let first = try Gateway(bench, sharing: database.make(), count: 2 * count)
        let second = try Gateway(bench, joining: first, as: 2)
        // Waits until the first gateway has handed over half of the shards.
        try self.waitForShares([first, second], database)
        // The last agents are still connecting.
        usleep(3_000_000)
        try first.waitForAll()
        let begin = monotonicSeconds()
        second.kill()
        // The connections of the killed gateway end at once.
        usleep(2_000_000)
        try first.waitForAll()
        report.add(
            "takeover of \(count) installations, from the kill to the last subscription",
            ours: Shown.decimals(monotonicSeconds() - begin, 1) + " s", target: "<= 15 s and connecting")
    }

    /// Waits until each gateway has its share of the shards.
    private static func waitForShares(_ gateways: [Gateway], _ database: BenchDatabase) throws {
        let least = Double(1024 / gateways.count - gateways.count)
        while try gateways.contains(where: { try database.shards(of: $0) < least }) { usleep(500_000) }
    }

    /// Measures a fleet with simulated brokers, which hold the connections and send messages. If three gateways may not
    /// open enough files, there are more.
    private static func fleet(_ database: BenchDatabase, _ bench: Workbench, into report: inout Report) throws {
        let count = bench.isQuick ? 1_000 : 100_000
        let room = Int(Double(Descriptors.raiseLimit() - 200) / GatewaySection.descriptorsEach)
        let processes = max(3, (count + room - 1) / room)
        let fleet = try database.make()
        let first = try Gateway(
            bench, sharing: fleet, count: count, brokers: bench.isQuick ? 1 : count / 10_000, isEmpty: true)
        let all = [first] + (try (2...processes).map { try Gateway(bench, joining: first, as: $0) })
        // One gateway cannot open files for all agents.
        try self.waitForShares(all, database)
        let begin = monotonicSeconds()
        try first.declare(in: fleet)
        let seconds = monotonicSeconds() - begin
        let shares = try all.map { try database.agents(of: $0) }
        report.add(
            "\(count) installations over \(processes) gateways",
            ours: "\(Shown.decimals(shares.min() ?? .nan, 0))–\(Shown.decimals(shares.max() ?? .nan, 0)) each")
        report.add("  from their declaration to the last subscription", ours: Shown.decimals(seconds, 1) + " s")
        let messages = bench.scaled(100_000)
        let rate = Double(messages) / (try first.send(messages))
        report.add("  acknowledged a second, to all in turn", ours: Shown.rate(Figure([rate])))
        try database.waitForHandled(messages, of: first)
        let paced = bench.scaled(50_000)
        _ = try first.send(paced, aSecond: 5_000)
        try database.waitForHandled(messages + paced, of: first)
        let lags = try database.lags(of: first, paced)
        report.add(
            "  at 5,000 a second, from reception to the handler, p50 and p99",
            ours: "\(Shown.decimals(lags.median, 0)) ms, \(Shown.decimals(lags.p99, 0)) ms")
        withExtendedLifetime(all) {}
    }
}
