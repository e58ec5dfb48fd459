import Glibc

/// `script/bench` runs `kii-push-bench table` with the arguments of ``BenchOptions``. The other commands are
/// contenders, which `table` starts as separate processes.
@main
enum KiiPushBench {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "table": try await self.table(Array(arguments.dropFirst()))
            case "agent": try await AgentReceiver.run(Array(arguments.dropFirst()))
            case "gateway": try await GatewayReceiver.run(Array(arguments.dropFirst()))
            case "fleet": try FleetSection.command(Array(arguments.dropFirst()))
            case "inbox": try InboxSection.command(Array(arguments.dropFirst()))
            case "decode": try DecodeSection.command(Array(arguments.dropFirst()))
            case "receive": try await ReceiveCommand.run(Array(arguments.dropFirst()))
            case "rest": try await RestCommand.run(Array(arguments.dropFirst()))
            default: throw ChildProcess.Failure(description: "run script/bench")
            }
        } catch {
            print("kii-push-bench: \(error)")
            exit(1)
        }
    }

    private static func table(_ arguments: [String]) async throws {
        let options = try BenchOptions(arguments)
        guard let executable = realpath("/proc/self/exe", nil) else {
            throw ChildProcess.Failure(description: "no /proc/self/exe")
        }
        defer { free(executable) }
        let bench = Workbench(
            folder: options.folder,
            payloads: options.payloads,
            executable: String(cString: executable),
            isQuick: options.isQuick,
            repetitions: options.repetitions ?? (options.isQuick ? 1 : 5),
            machine: try Machine(path: "\(options.folder)/machine")
        )
        if let folder = options.report {
            let pages = ReportFiles.pages(in: folder)
            try pages.short.check()
            try pages.whole.check()
        }
        var report = Report()
        for section in options.sections {
            print("measuring: \(section.rawValue)")
            fflush(nil)
            // A failed section keeps the results of the others.
            do { try await section.run(bench, into: &report) } catch { report.fail(section, with: error) }
        }
        print(report.text)
        if bench.isQuick { print("a smoke run: the numbers mean little") }
        let files = ReportFiles(bench: bench, report: report)
        try files.write()
        if let folder = options.report { try files.publish(in: folder) }
        if !report.failures.isEmpty { exit(1) }
    }
}
