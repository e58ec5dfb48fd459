/// The cost of a turn of the inbox file with few kept rows and with many.
enum InboxGrowth {
    static func run(_ bench: Workbench, into report: inout Report) throws {
        let numbers = bench.isQuick ? [10, 1_000, 10_000] : [10, 10_000, 1_000_000]
        let payload = try readFile(bench.smallPayload)
        let files = try numbers.map { try FilledInbox(bench, rows: $0, payload: payload) }
        let results = try report.compare(
            "turns of one message and one verdict by kept rows, file inbox",
            operation: "turn",
            files.map { file in Contender(name: file.name, count: file.turns) { try file.sample() } },
            repetitions: bench.repetitions
        )
        let costs = [
            ("single", "a turn of one message and one verdict by kept rows"),
            ("grouped", "a turn of 256 messages and 256 verdicts by kept rows"),
            ("opening", "opening the inbox file by kept rows"),
            ("unproven", "the first agent's start looks for unproven rows, each of the kept rows"),
        ]
        for (key, what) in costs {
            var growth = GrowthTable(what)
            for file in files {
                growth.add(file.rows, named: "\(file.rows)", cost: results[file.name, key])
            }
            growth.print(into: &report)
        }
        for file in files.dropFirst() {
            let sample = try file.prune()
            report.add(
                "a turn of one message while \(file.rows) rows are pruned: p50",
                ours: Shown.microseconds(Figure([sample["p50"] ?? .nan])),
                against: "before \(Shown.microseconds(results[file.name, "single"]))"
            )
            report.add(
                "  the longest of \(Int(sample["turns"] ?? 0)) turns",
                ours: Shown.milliseconds(Figure([sample["longest"] ?? .nan])),
                target: "never stalls (<= 100 ms)",
                reached: (sample["longest"] ?? .nan) <= 0.1
            )
        }
    }
}
