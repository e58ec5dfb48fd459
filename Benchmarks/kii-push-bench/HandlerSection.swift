import Glibc

/// The whole path to a handler, against the blast: received, stored, acknowledged, decoded, handled, answered.
enum HandlerSection {
    private static let file = "200 B, QoS 1"
    private static let single = "storing alone, one commit a message"

    static func run(_ bench: Workbench, into report: inout Report) throws {
        try self.memory(bench, into: &report)
        try self.file(bench, into: &report)
        try self.latency(bench, into: &report)
    }

    private static func memory(_ bench: Workbench, into report: inout Report) throws {
        let many = bench.scaled(1_000_000)
        let whole = "200 B, QoS 0"
        let results = try report.compare(
            "received, decoded, handled, memory inbox",
            [
                self.contender(whole, "memory", Blast(payload: bench.smallPayload, count: many), bench),
                self.contender("400 B, QoS 0", "memory", Blast(payload: bench.largePayload, count: many), bench),
                self.contender(
                    "200 B, QoS 1", "memory", Blast(payload: bench.smallPayload, count: many, qos: 1), bench),
                self.contender(
                    self.tenth(of: whole), "memory", Blast(payload: bench.smallPayload, count: many / 10), bench),
            ],
            repetitions: bench.repetitions
        )
        for name in [whole, "400 B, QoS 0", "200 B, QoS 1"] {
            let isTarget = name.hasSuffix("QoS 0")
            let rate = results[name, "rate"]
            report.add(
                "received, decoded, handled, memory inbox, \(name)",
                ours: Shown.rate(rate),
                target: isTarget ? ">= 1 M/s" : "",
                reached: isTarget ? rate.median >= 1e6 : nil,
                headline: "messages to a handler, inbox in memory, \(name)"
            )
        }
        self.growth(results, whole, messages: many, inbox: "memory", into: &report)
    }

    private static func file(_ bench: Workbench, into report: inout Report) throws {
        let many = bench.scaled(500_000)
        let blast = Blast(payload: bench.smallPayload, count: many, qos: 1)
        let tenth = Blast(payload: bench.smallPayload, count: many / 10, qos: 1)
        let results = try report.compare(
            "received, stored, acknowledged, decoded, handled, file inbox",
            [
                self.contender(self.file, "file", blast, bench),
                self.contender(self.tenth(of: self.file), "file", tenth, bench),
                InboxSection.contender(
                    self.single, count: bench.scaled(5_000), group: 1, payload: bench.smallPayload, bench: bench),
            ],
            repetitions: bench.repetitions
        )
        let (rate, single) = (results[self.file, "rate"], results[self.single, "rate"])
        report.add(
            "received, stored, acknowledged, decoded, handled, 200 B, QoS 1",
            ours: Shown.rate(rate),
            target: ">= 50 k/s",
            reached: rate.median >= 50_000
        )
        report.add(
            "  the same",
            ours: Shown.rate(rate),
            against: "\(self.single) \(Shown.rate(single))",
            ratio: Shown.ratio(rate / single),
            target: ">= 10x",
            reached: rate / single >= 10,
            headline: "messages stored, acknowledged and handled, inbox in a file, 200 B, QoS 1"
        )
        self.growth(results, self.file, messages: many, inbox: "file", into: &report)
    }

    private static func latency(_ bench: Workbench, into report: inout Report) throws {
        let pause = 5_000
        let single = "one commit after the same pause"
        let floor = "C, a commit and a second thread"
        let blast = Blast(
            payload: bench.smallPayload, count: bench.scaled(1_000), qos: 1, pauseMicroseconds: pause)
        let results = try report.compare(
            "a lone message every 5 ms, file inbox",
            [
                self.contender("agent", "latency", blast, bench),
                Contender(name: floor, count: blast.count) {
                    let database = bench.program("floor.sqlite")
                    func remove() { for suffix in ["", "-wal", "-shm"] { unlink(database + suffix) } }
                    // An interrupted run leaves the database behind.
                    remove()
                    defer { remove() }
                    return try bench.run(blast) { port in
                        [bench.program("agent"), "latency", "\(port)", database, "\(blast.count)"]
                    }
                },
                InboxSection.contender(
                    single, count: bench.scaled(1_000), group: 1, payload: bench.smallPayload,
                    pauseMicroseconds: pause, bench: bench),
            ],
            repetitions: bench.repetitions
        )
        let (half, commit) = (results["agent", "p50"], results[single, "p50"])
        report.add(
            "sending to handler, lone message, file inbox: p50",
            ours: Shown.microseconds(half),
            against: "\(single) \(Shown.microseconds(commit))",
            target: "<= commit + 200 us",
            reached: half.median <= commit.median + 200e-6
        )
        report.add(
            "  the same",
            ours: Shown.microseconds(half),
            against: "\(floor) \(Shown.microseconds(results[floor, "p50"]))",
            ratio: Shown.ratio(half / results[floor, "p50"]),
            headline: "one message, from its sending to its handler, inbox in a file"
        )
        report.add("  p99", ours: Shown.microseconds(results["agent", "p99"]))
    }

    /// Compares the resident memory at the end of a run with that of a run with a tenth of the messages.
    private static func growth(
        _ results: Results,
        _ whole: String,
        messages: Int,
        inbox: String,
        into report: inout Report
    ) {
        let (end, tenth) = (results[whole, "resident"], results[self.tenth(of: whole), "resident"])
        report.add(
            "  resident after \(messages) messages, \(inbox) inbox",
            ours: Shown.megabytes(end),
            against: "after \(messages / 10) \(Shown.megabytes(tenth))",
            ratio: Shown.ratio(end / tenth),
            target: "no growth (<= 1.1x)",
            reached: end / tenth <= 1.1
        )
    }

    private static func tenth(of name: String) -> String { "\(name), a tenth of them" }

    private static func contender(_ name: String, _ receiver: String, _ blast: Blast, _ bench: Workbench) -> Contender {
        Contender(name: name, count: blast.count) { try bench.run(blast, agent: receiver) }
    }
}
