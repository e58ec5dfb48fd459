import Glibc

/// A process that receives for thousands of installations, each on a connection of its own: the cost of one more
/// installation, and the effect of silent connections on busy ones.
enum GatewaySection {
    /// File descriptors an agent: one socket, and libcurl's pair of descriptors for every few sockets.
    static let descriptorsEach = 1.1

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let room = Int(Double(Descriptors.raiseLimit() - 200) / self.descriptorsEach)
        guard room >= 2_000 else { throw ChildProcess.Failure(description: "too few files may be open (ulimit -n)") }
        let counts = bench.isQuick ? [10, 200, 1_000] : [10, 1_000, min(10_000, room / 100 * 100)]
        for inbox in ["memory", "file"] {
            let gateways = try counts.map { try Gateway(bench, inbox: inbox, count: $0) }
            try self.connecting(gateways, inbox, bench, into: &report)
            if inbox == "memory" { try self.waiting(gateways[2], bench, into: &report) }
            try self.receiving(gateways, inbox, bench, into: &report)
            var stopping = GrowthTable("  stopping, each of so many installations, \(inbox) inbox")
            for gateway in gateways.dropFirst() {
                stopping.add(
                    gateway.count, named: "\(gateway.count)", cost: Figure([try gateway.stop()]) / gateway.count)
            }
            stopping.print(into: &report)
        }
        try self.others(bench, into: &report)
    }

    private static func connecting(
        _ gateways: [Gateway], _ inbox: String, _ bench: Workbench, into report: inout Report
    ) throws {
        let few = gateways[0]
        var (each, memory) = (
            GrowthTable("connecting and subscribing, each of so many installations, \(inbox) inbox"),
            GrowthTable("  resident memory of each")
        )
        func resident(_ gateway: Gateway) -> Figure {
            Figure([gateway.resident - few.resident]) / (gateway.count - few.count)
        }
        for gateway in gateways.dropFirst() {
            let name = "\(gateway.count)"
            each.add(gateway.count, named: name, cost: Figure([gateway.connectSeconds]) / gateway.count)
            memory.add(gateway.count, named: name, cost: resident(gateway))
        }
        each.print(into: &report)
        let most = gateways[2]
        let floor = try self.floor(most.count, bench)
        let (seconds, floorSeconds) = (Figure([most.connectSeconds]), Figure([floor["seconds"] ?? .nan]))
        let (cpu, floorCPU) = (Figure([most.connectCPUSeconds]), Figure([floor["cpu"] ?? .nan]))
        report.add(
            "  all \(most.count)",
            ours: Shown.milliseconds(seconds),
            against: "C, one epoll descriptor \(Shown.milliseconds(floorSeconds))",
            ratio: Shown.ratio(seconds / floorSeconds),
            headline: "\(most.count) installations, from the first CONNECT to the last SUBACK, \(inbox) inbox"
        )
        report.add(
            "  CPU of all \(most.count), from the start of the process on",
            ours: Shown.milliseconds(cpu),
            against: "C \(Shown.milliseconds(floorCPU))",
            ratio: Shown.ratio(cpu / floorCPU)
        )
        memory.print(into: &report, shown: self.kilobytes)
        report.addHeadline("memory of each of them", ours: self.kilobytes(resident(most)))
        report.add(
            "  descriptors of each",
            ours: Shown.decimals(Double(most.descriptors - few.descriptors) / Double(most.count - few.count), 2)
        )
    }

    private static func floor(_ count: Int, _ bench: Workbench) throws -> Sample {
        let hold = try ChildProcess([bench.program("hold"), bench.smallPayload], takesInput: true)
        defer { hold.end() }
        let swarm = try ChildProcess([bench.program("swarm"), "\(try hold.port())", "\(count)"])
        guard let line = swarm.nextLine() else { throw ChildProcess.Failure(description: "swarm failed") }
        return fields(of: line)
    }

    /// Measures silent connections, with one PINGREQ in each interval of the keepalive.
    private static func waiting(_ gateway: Gateway, _ bench: Workbench, into report: inout Report) throws {
        usleep(1_000_000)
        let seconds = bench.isQuick ? 2.0 : 60.0
        let before = gateway.threads
        usleep(UInt32(seconds * 1e6))
        let used = gateway.threads.since(before)
        report.add(
            "\(gateway.count) silent connections, keepalive 60 s: CPU of a core",
            ours: "\(Shown.decimals(used.runSeconds / seconds * 100, 2)) %"
        )
        report.add("  wake-ups a second", ours: Shown.decimals(used.wakeUps / seconds, 1))
    }

    private static func receiving(
        _ gateways: [Gateway], _ inbox: String, _ bench: Workbench, into report: inout Report
    ) throws {
        // Each agent's first message waits until delivery has checked the inbox's older rows, so it is not measured.
        for gateway in gateways { _ = try gateway.receive(max(gateway.count, 100), by: "all") }
        let (few, most) = (gateways[0], gateways[2])
        let ways: [(name: String, receivers: String, count: Int, pause: Int)] = [
            ("as fast as they are taken, to all in turn", "all", bench.scaled(50_000), 0),
            ("as fast as they are taken, to one", "one", bench.scaled(50_000), 0),
            ("lone ones, 500 a second, to one", "one", bench.scaled(1_000), 2_000),
        ]
        for way in ways {
            let what = "messages \(way.name), QoS 1, \(inbox) inbox"
            let results = try report.compare(
                what,
                [few, most].map { gateway in
                    Contender(name: self.name(gateway), count: way.count) {
                        try gateway.receive(way.count, by: way.receivers, pauseMicroseconds: way.pause)
                    }
                },
                repetitions: bench.repetitions
            )
            let (cpuOfFew, cpu) = (results[self.name(few), "cpu"], results[self.name(most), "cpu"])
            let isTarget = way.receivers == "one"
            report.add(
                "\(what), of \(most.count): CPU of each",
                ours: Shown.microseconds(cpu),
                against: "of \(few.count) \(Shown.microseconds(cpuOfFew))",
                ratio: Shown.ratio(cpu / cpuOfFew),
                target: isTarget ? "<= 1.2x" : "",
                reached: isTarget ? cpu / cpuOfFew <= 1.2 : nil
            )
            guard way.pause == 0 else { continue }
            report.add(
                "  received", ours: Shown.rate(results[self.name(most), "rate"]),
                against: "of \(few.count) \(Shown.rate(results[self.name(few), "rate"]))")
        }
    }

    /// Measures TLS and first starts, with fewer agents because each start takes long.
    private static func others(_ bench: Workbench, into report: inout Report) throws {
        let counts = bench.isQuick ? [10, 50] : [10, 1_000]
        let kinds = [
            try counts.map { try Gateway(bench, inbox: "memory", count: $0, isEncrypted: true) },
            try counts.map { try Gateway(bench, inbox: "memory", count: $0, isFirst: true) },
        ]
        for (name, gateways) in zip(["over TLS", "for the first time, with a file written for each"], kinds) {
            let (few, most) = (gateways[0], gateways[1])
            let resident = Figure([most.resident - few.resident]) / (most.count - few.count)
            report.add(
                "connecting \(most.count) installations \(name), each",
                ours: Shown.microseconds(Figure([most.connectSeconds]) / most.count))
            report.add("  resident memory of each", ours: self.kilobytes(resident))
        }
    }

    private static func name(_ gateway: Gateway) -> String { "\(gateway.count) installations" }

    private static func kilobytes(_ bytes: Figure) -> String {
        Shown.spread(bytes, scale: 1 / 1024, places: 1, unit: "KiB")
    }
}
