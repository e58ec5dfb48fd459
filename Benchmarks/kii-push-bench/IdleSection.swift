import Glibc

/// One idle connection: the wake-ups of the process and their cost. Only the keep-alive needs wake-ups, for a PINGREQ
/// and its answer each time.
enum IdleSection {
    private static let keepAlive = 60.0

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let hold = try ChildProcess([bench.program("hold"), bench.smallPayload], takesInput: true)
        defer { hold.end() }
        let port = try hold.port()
        let directory = try AgentReceiver.makeStateDirectory(in: bench.folder, port: port)
        defer { Workbench.remove(directory) }
        let keepAlive = Shown.decimals(self.keepAlive, 0)
        let processes = [
            try ChildProcess(bench.own(["agent", "idle", directory, "1"])),
            try ChildProcess(
                ["mosquitto_sub", "-h", "127.0.0.1", "-p", "\(port)", "-t", "bench", "-q", "1", "-k", keepAlive]),
        ]
        hold.say("wait 2")
        _ = hold.nextLine()
        // The measurement begins after the start's own work, and half an interval away from each PINGREQ.
        usleep(bench.isQuick ? 1_000_000 : UInt32(self.keepAlive / 2 * 1e6))
        let before = processes.map { Threads(of: $0.pid) }
        let begin = monotonicSeconds()
        usleep(bench.isQuick ? 5_000_000 : UInt32(self.keepAlive * 2 * 1e6))
        let hours = (monotonicSeconds() - begin) / 3600
        let used = zip(processes, before).map { Threads(of: $0.pid).since($1) }
        let cpu = used.map { Figure([$0.runSeconds / hours]) }
        let own = (used[0].wakeUps - used[0].wakeUpsOfLibdispatch) / hours
        // Three wake-ups an interval: PINGREQ, its answer, and the inbox's search for old rows.
        let needed = 3 * 3600 / self.keepAlive
        report.add(
            "one silent connection, file inbox, keepalive \(keepAlive) s: wake-ups an hour",
            ours: Shown.decimals(own, 0),
            against: "mosquitto_sub \(Shown.decimals(used[1].wakeUps / hours, 0))",
            target: "<= \(Shown.decimals(needed, 0))",
            reached: own <= needed
        )
        report.add(
            "  and of libdispatch, whatever the program does",
            ours: Shown.decimals(used[0].wakeUpsOfLibdispatch / hours, 0))
        report.add(
            "  CPU an hour",
            ours: Shown.milliseconds(cpu[0]),
            against: "mosquitto_sub \(Shown.milliseconds(cpu[1]))",
            ratio: Shown.ratio(cpu[0] / cpu[1]),
            headline: "processor time of an idle connection, an hour"
        )
    }
}
