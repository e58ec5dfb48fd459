#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Finds out what is wrong with a fleet: database, gateways, messages.",
        examples: [
            ("Everything, in 10 seconds at most", "kii-push-gateway doctor"),
            ("What failed, for a program", "kii-push-gateway doctor --json | jq 'select(.outcome==\"failed\")'"),
        ],
        discussion: [
            "One line a check; then what to do. A check that makes no sense after another one failed is skipped and says "
                + "after which. It ends with the exit code of the first check that failed; a warning is no failure.",
            "It asks the databases alone: agents and their brokers are the gateways' to watch.",
        ],
        exitCodes: FleetStoreOptions.exitCodes, environment: FleetStoreOptions.environment
    )

    @Option(
        short: "t", value: "TIME",
        help: "How long all checks may take together (500ms, 10s, 5m); one takes 3/10 of it at most. Default: 10s."
    )
    var timeout: TimeSpan?

    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        let console = self.options.console
        let fleet = try self.options.fleet()
        var examination = Examination(time: self.timeout?.duration ?? .seconds(10)) { try console.show($0) }
        try await console.waiting {
            let (store, gateways) = (Check.Key(.store), Check.Key(.gateways))
            try await examination.check(store) { try await Self.store(fleet) }
            try await examination.check(gateways, after: [store]) { Self.gateways(try await fleet.status()) }
            if fleet.hasOneDatabase {
                try await examination.check(Check.Key(.inbox), after: [store]) {
                    Self.inbox(try await fleet.ledger())
                }
            }
        }
        try examination.note(Check.Key(.service), ServiceContext.finding())
        try examination.end(on: console)
    }

    private static func store(_ fleet: Fleet) async throws -> Finding {
        try await fleet.check()
        return .ok("the tables are there, in version \(try await fleet.schemaVersion()), and rows can be changed")
    }

    private static func gateways(_ status: FleetStatus) -> Finding {
        if let (database, reason) = status.unreachable.min(by: { $0.key < $1.key }) {
            return .unreachable("database \(database + 1): \(reason)", fix: "see that its gateways can reach it")
        }
        let alive = status.gateways.count(where: \.isAlive)
        let evidence = "\(alive.text(of: "gateway")) alive, \(status.gateways.map(\.unhandled).reduce(0, +)) unhandled"
        if status.agentsWithoutGateway > 0 {
            return .warning(
                "\(evidence); \(status.agentsWithoutGateway.text(of: "agent")) without a gateway",
                fix: "start a gateway: kii-push-gateway run")
        }
        if let gone = status.gateways.first(where: { $0.condition == .gone || $0.condition == .late }) {
            return .warning(
                "\(evidence); \(gone.name) is \(gone.condition.rawValue)",
                fix: "look at its process: \(gone.processID) on \(gone.host)")
        }
        return .ok(evidence)
    }

    private static func inbox(_ ledger: MessageLedger) -> Finding {
        let evidence = "\(ledger.received) received, \(ledger.dead) given up on"
        return ledger.dead > 0
            ? .warning(
                evidence,
                fix:
                    "see why: kii-push-gateway inbox list --state dead; then decide: kii-push-gateway inbox retry or drop"
            )
            : .ok(evidence)
    }
}
#endif
