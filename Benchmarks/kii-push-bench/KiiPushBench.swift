import Glibc

/// `kii-push-bench table FOLDER PAYLOADS [--quick] [SECTION …]`: what `script/bench` runs. The other commands are the
/// contenders that the table starts as processes of their own.
@main
enum KiiPushBench {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "table": try await self.table(Array(arguments.dropFirst()))
            case "agent": try await AgentReceiver.run(Array(arguments.dropFirst()))
            case "fleet": try FleetSection.command(Array(arguments.dropFirst()))
            case "decode": try DecodeSection.command(Array(arguments.dropFirst()))
            case "instructions": try InstructionCommand.run(Array(arguments.dropFirst()))
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
        let names = arguments.dropFirst(2).filter { $0 != "--quick" }
        guard arguments.count >= 2, let executable = realpath("/proc/self/exe", nil) else {
            throw ChildProcess.Failure(description: "usage: table FOLDER PAYLOADS [--quick] [SECTION …]")
        }
        defer { free(executable) }
        let bench = Workbench(
            folder: arguments[0],
            payloads: arguments[1],
            executable: String(cString: executable),
            isQuick: arguments.contains("--quick")
        )
        var table = Table()
        for section in Section.allCases where names.isEmpty || names.contains(section.rawValue) {
            print("measuring: \(section.rawValue)")
            fflush(nil)
            try await section.run(bench, into: &table)
        }
        print(table.printed())
        if bench.isQuick { print("a smoke run: the numbers mean little") }
        print(table.short == 0 ? "every target is reached" : "\(table.short) targets are not reached")
    }
}

/// The parts of the table.
enum Section: String, CaseIterable {
    case decode
    case receive
    case handler
    case listen
    case broker
    case rest
    case emulator
    case inbox
    case process
    case fleet

    func run(_ bench: Workbench, into table: inout Table) async throws {
        switch self {
        case .decode: try DecodeSection.run(bench, into: &table)
        case .receive: try ReceiveSection.run(bench, into: &table)
        case .handler: try HandlerSection.run(bench, into: &table)
        case .listen: try ListenSection.run(bench, into: &table)
        case .broker: try BrokerSection.run(bench, into: &table)
        case .rest: try RestSection.run(bench, into: &table)
        case .emulator: try await EmulatorSection.run(bench, into: &table)
        case .inbox: try InboxSection.run(bench, into: &table)
        case .process: try ProcessSection.run(bench, into: &table)
        case .fleet: try FleetSection.run(bench, into: &table)
        }
    }
}
