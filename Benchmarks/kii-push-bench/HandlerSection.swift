/// The whole way to a handler, against the blast: received, stored, acknowledged, decoded, handled, answered.
enum HandlerSection {
    static func run(_ bench: Workbench, into table: inout Table) throws {
        try self.memory(bench, into: &table)
        try self.file(bench, into: &table)
        try self.latency(bench, into: &table)
    }

    private static func memory(_ bench: Workbench, into table: inout Table) throws {
        let many = bench.scaled(1_000_000)
        let medians = try interleaved(
            [
                self.contender("200 B, QoS 0", "memory", .init(payload: bench.smallPayload, count: many), bench),
                self.contender("400 B, QoS 0", "memory", .init(payload: bench.largePayload, count: many), bench),
                self.contender(
                    "200 B, QoS 1", "memory", .init(payload: bench.smallPayload, count: many, qos: 1), bench),
                self.contender("a tenth", "memory", .init(payload: bench.smallPayload, count: many / 10), bench),
            ],
            repetitions: bench.repetitions
        )
        for name in ["200 B, QoS 0", "400 B, QoS 0", "200 B, QoS 1"] {
            let sample = medians[name] ?? [:]
            let isTarget = name.hasSuffix("QoS 0")
            let rate = sample["rate"] ?? 0
            table.add(
                "received, decoded, handled, memory inbox, \(name)",
                ours: Shown.rate(rate),
                target: isTarget ? ">= 1 M/s" : "",
                reached: isTarget ? rate >= 1e6 : nil
            )
            table.add("  user + system CPU a message", ours: Shown.microseconds(sample["cpu"] ?? .nan))
        }
        self.growth(medians["200 B, QoS 0"], over: medians["a tenth"], messages: many, inbox: "memory", into: &table)
    }

    private static func file(_ bench: Workbench, into table: inout Table) throws {
        let many = bench.scaled(500_000)
        let payload = try readFile(bench.smallPayload)
        let medians = try interleaved(
            [
                self.contender("file", "file", .init(payload: bench.smallPayload, count: many, qos: 1), bench),
                self.contender("a tenth", "file", .init(payload: bench.smallPayload, count: many / 10, qos: 1), bench),
                Contender(name: "single") {
                    try InboxSection.store(bench.scaled(5_000), group: 1, payload: payload, bench: bench)
                },
            ],
            repetitions: bench.repetitions
        )
        let (file, single) = (medians["file"] ?? [:], medians["single"] ?? [:])
        let rate = file["rate"] ?? 0
        let ratio = rate / (single["rate"] ?? .nan)
        table.add(
            "received, stored, acknowledged, decoded, handled, 200 B, QoS 1",
            ours: Shown.rate(rate),
            target: ">= 50 k/s",
            reached: rate >= 50_000
        )
        table.add(
            "  the same",
            ours: Shown.rate(rate),
            against: "storing alone, one commit a message \(Shown.rate(single["rate"] ?? 0))",
            ratio: Shown.ratio(ratio),
            target: ">= 10x",
            reached: ratio >= 10
        )
        table.add("  user + system CPU a message", ours: Shown.microseconds(file["cpu"] ?? .nan))
        self.growth(file, over: medians["a tenth"], messages: many, inbox: "file", into: &table)
    }

    private static func latency(_ bench: Workbench, into table: inout Table) throws {
        let payload = try readFile(bench.smallPayload)
        let pause: UInt32 = 5_000
        let blast = Workbench.Blast(
            payload: bench.smallPayload, count: bench.scaled(1_000), qos: 1, pauseMicroseconds: Int(pause))
        let medians = try interleaved(
            [
                self.contender("agent", "latency", blast, bench),
                Contender(name: "single") {
                    try InboxSection.store(
                        bench.scaled(1_000), group: 1, payload: payload, pauseMicroseconds: pause, bench: bench)
                },
            ],
            repetitions: bench.repetitions
        )
        let half = medians["agent"]?["p50"] ?? .nan
        let commit = medians["single"]?["p50"] ?? .nan
        table.add(
            "arrival to handler, lone message, file inbox: p50",
            ours: Shown.microseconds(half),
            against: "one commit after the same pause \(Shown.microseconds(commit))",
            target: "<= commit + 200 us",
            reached: half <= commit + 200e-6
        )
        table.add("  p99", ours: Shown.microseconds(medians["agent"]?["p99"] ?? .nan))
    }

    /// Resident memory at the end of a run, and of one with a tenth of the messages.
    private static func growth(
        _ whole: Sample?,
        over tenth: Sample?,
        messages: Int,
        inbox: String,
        into table: inout Table
    ) {
        let (end, tenth) = (whole?["resident"] ?? .nan, tenth?["resident"] ?? .nan)
        table.add(
            "  resident after \(messages) messages, \(inbox) inbox",
            ours: Shown.megabytes(end),
            against: "after \(messages / 10) \(Shown.megabytes(tenth))",
            ratio: Shown.ratio(end / tenth),
            target: "no growth (<= 1.1x)",
            reached: end <= tenth * 1.1
        )
    }

    private static func contender(
        _ name: String,
        _ receiver: String,
        _ blast: Workbench.Blast,
        _ bench: Workbench
    ) -> Contender {
        Contender(name: name) { try bench.run(blast, agent: receiver) }
    }
}
