import Glibc

/// The process itself: the time until it receives, its cost when idle, and its size. All programs are linked
/// statically.
enum ProcessSection {
    private static let agent = "KiiPushCore's agent"
    private static let floor = "C on libcurl and SQLite"

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let results = try report.compare(
            "process start to subscribed, then idle, plain TCP, file inbox",
            operation: "start",
            [
                Contender(name: self.agent, count: 1) {
                    try self.idle(bench) { bench.own(["agent", "idle", $0, "1"]) }
                },
                Contender(name: self.floor, count: 1) {
                    try self.idle(bench) { port, directory in
                        [bench.program("agent"), "idle", "\(port)", "\(directory)/floor.sqlite"]
                    }
                },
            ],
            repetitions: max(bench.scaled(30), 5)
        )
        let start = results[self.agent, "start"]
        report.add(
            "process start to subscribed, plain TCP",
            ours: Shown.milliseconds(start),
            against: "\(self.floor) \(Shown.milliseconds(results[self.floor, "start"]))",
            ratio: Shown.ratio(start / results[self.floor, "start"]),
            target: "<= 15 ms",
            reached: start.median <= 0.015,
            headline: "a process, from its start to its subscription"
        )
        let resident = results[self.agent, "resident"]
        report.add(
            "resident when idle and connected, plain TCP, file inbox",
            ours: Shown.megabytes(resident),
            against: "\(self.floor) \(Shown.megabytes(results[self.floor, "resident"]))",
            ratio: Shown.ratio(resident / results[self.floor, "resident"]),
            target: "<= 16 MB (15.3 MiB)",
            reached: resident.median <= 16e6,
            headline: "memory of a process that is connected and idle"
        )
        let size = self.size(of: bench.program("kii-push"))
        report.add(
            "kii-push, static standard library, stripped",
            ours: Shown.megabytes(Figure([size])),
            target: "<= 14 MB (13.4 MiB)",
            reached: size <= 14e6
        )
    }

    static func size(of path: String) -> Double {
        var status = stat()
        return stat(path, &status) == 0 ? Double(status.st_size) : .nan
    }

    /// - Parameter receiver: makes the command line from a state directory with a registration.
    static func idle(_ bench: Workbench, receiver: (_ stateDirectory: String) -> [String]) throws -> Sample {
        try self.idle(bench) { port, directory in
            receiver(try AgentReceiver.makeStateDirectory(in: directory, port: port))
        }
    }

    /// - Parameter receiver: makes the command line from a port and an empty directory.
    private static func idle(
        _ bench: Workbench, receiver: (_ port: Int, _ directory: String) throws -> [String]
    ) throws -> Sample {
        let broker = try ChildProcess([bench.program("blast"), bench.smallPayload, "1", "-s", "1"])
        let directory = bench.program("idle")
        // An interrupted run leaves the directory behind.
        Workbench.remove(directory)
        guard mkdir(directory, 0o700) == 0 else { throw ChildProcess.Failure(description: "cannot make \(directory)") }
        defer { Workbench.remove(directory) }
        let command = try receiver(try broker.port(), directory)
        let begin = monotonicSeconds()
        let agent = try ChildProcess(command)
        guard agent.nextLine() == "subscribed" else { throw ChildProcess.Failure(description: "no subscription") }
        let start = monotonicSeconds() - begin
        usleep(200_000)
        let (resident, peak) = (residentBytes(of: "\(agent.pid)"), peakBytes(of: "\(agent.pid)"))
        let usage = agent.end(SIGKILL)
        return [
            "start": start, "resident": resident, "peak": peak, "user": usage.userSeconds,
            "system": usage.systemSeconds, "wall": monotonicSeconds() - begin,
        ]
    }
}
