import Glibc

/// The process itself: how soon it receives, what it takes to wait, how large it is. All linked statically.
enum ProcessSection {
    static func run(_ bench: Workbench, into table: inout Table) throws {
        var runs: [Sample] = []
        for _ in 0..<max(bench.scaled(30), 5) { runs.append(try self.idle(bench)) }
        let start = median(runs.compactMap { $0["start"] })
        table.add(
            "process start to subscribed, plain TCP",
            ours: Shown.milliseconds(start),
            target: "<= 15 ms",
            reached: start <= 0.015
        )
        let resident = median(runs.compactMap { $0["resident"] })
        table.add(
            "resident when idle and connected, plain TCP, file inbox",
            ours: Shown.megabytes(resident),
            target: "<= 16 MB",
            reached: resident <= 16e6
        )
        var status = stat()
        let size = stat(bench.program("kii-push"), &status) == 0 ? Double(status.st_size) : .nan
        table.add(
            "kii-push, static standard library, stripped",
            ours: Shown.megabytes(size),
            target: "<= 14 MB",
            reached: size <= 14e6
        )
    }

    private static func idle(_ bench: Workbench) throws -> Sample {
        let broker = try ChildProcess([bench.program("blast"), bench.smallPayload, "1", "-s", "1"])
        let directory = try AgentReceiver.makeStateDirectory(in: bench.folder, port: try broker.port())
        defer { Workbench.remove(directory) }
        let begin = monotonicSeconds()
        let agent = try ChildProcess(bench.own(["agent", "idle", directory, "1"]))
        guard agent.nextLine() == "subscribed" else { throw ChildProcess.Failure(description: "no subscription") }
        let start = monotonicSeconds() - begin
        usleep(200_000)
        return ["start": start, "resident": residentBytes(of: "\(agent.pid)")]
    }
}
