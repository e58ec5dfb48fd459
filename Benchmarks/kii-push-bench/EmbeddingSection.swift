import Glibc

/// The library for other languages beside the library for Swift: the cost of a message in a handler in C and in Python,
/// the time until a program in C receives, and the size of the library.
enum EmbeddingSection {
    private static let swift = "Swift, KiiPushCore"
    private static let c = "C, libkiipush"
    private static let python = "Python, kii_push"
    private static let paho = "Python, paho, which stores nothing"

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let blast = Blast(payload: bench.smallPayload, count: bench.scaled(500_000))
        let shorter = Blast(payload: bench.smallPayload, count: bench.scaled(50_000))
        let results = try report.compare(
            "received, decoded, handled, memory inbox, 200 B, QoS 0",
            [
                Contender(name: self.swift, count: blast.count) { try bench.run(blast, agent: "memory") },
                Contender(name: self.c, count: blast.count) {
                    try self.run(blast, bench) { [bench.program("embedded"), "memory", $0, "\(blast.count)"] }
                },
                Contender(name: self.python, count: shorter.count) {
                    try self.run(shorter, bench) { self.interpreter(bench) + [$0, "\(shorter.count)"] }
                },
                Contender(name: self.paho, count: shorter.count) {
                    try bench.run(shorter) { port in
                        ["/usr/bin/python3", bench.program("receive_paho.py"), "127.0.0.1", "\(port)"]
                            + [Workbench.topic, "\(shorter.count)", "0"]
                    }
                },
            ],
            repetitions: bench.repetitions
        )
        let rate = results[self.c, "rate"] / results[self.swift, "rate"]
        report.add(
            "received, decoded, handled in C, memory inbox, 200 B, QoS 0",
            ours: Shown.rate(results[self.c, "rate"]),
            against: "\(self.swift) \(Shown.rate(results[self.swift, "rate"]))",
            ratio: Shown.ratio(rate),
            target: ">= 0.9x",
            reached: rate >= 0.9
        )
        report.add(
            "received, decoded, handled in Python, memory inbox, 200 B, QoS 0",
            ours: Shown.rate(results[self.python, "rate"]),
            against: "\(self.paho) \(Shown.rate(results[self.paho, "rate"]))",
            ratio: Shown.ratio(results[self.python, "rate"] / results[self.paho, "rate"])
        )
        try self.start(bench, into: &report)
        let size = ProcessSection.size(of: bench.program("libkiipush.so.1"))
        report.add("libkiipush.so.1, static standard library, stripped", ours: Shown.megabytes(Figure([size])))
    }

    private static func start(_ bench: Workbench, into report: inout Report) throws {
        let results = try report.compare(
            "process start to subscribed, plain TCP, file inbox, in other languages",
            operation: "start",
            [
                Contender(name: self.swift, count: 1) {
                    try ProcessSection.idle(bench) { bench.own(["agent", "idle", $0, "1"]) }
                },
                Contender(name: self.c, count: 1) {
                    try ProcessSection.idle(bench) { [bench.program("embedded"), "idle", $0, "1"] }
                },
            ],
            repetitions: max(bench.scaled(30), 5)
        )
        let ratio = results[self.c, "start"] / results[self.swift, "start"]
        report.add(
            "process start to subscribed, in C",
            ours: Shown.milliseconds(results[self.c, "start"]),
            against: "\(self.swift) \(Shown.milliseconds(results[self.swift, "start"]))",
            ratio: Shown.ratio(ratio),
            target: "<= 1.1x",
            reached: ratio <= 1.1
        )
    }

    private static func interpreter(_ bench: Workbench) -> [String] {
        ["env", "KII_PUSH_LIBRARY=\(bench.program("libkiipush.so.1"))", "PYTHONPATH=\(bench.folder)"]
            + ["/usr/bin/python3", bench.program("embedded.py")]
    }

    /// - Parameter receiver: makes the command line from a state directory.
    private static func run(
        _ blast: Blast, _ bench: Workbench, receiver: (_ directory: String) -> [String]
    ) throws -> Sample {
        var directory: String?
        defer { directory.map(Workbench.remove) }
        return try bench.run(blast) { port in
            let made = try AgentReceiver.makeStateDirectory(in: bench.folder, port: port)
            directory = made
            return receiver(made)
        }
    }
}
