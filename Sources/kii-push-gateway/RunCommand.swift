#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Receives as one gateway of a fleet, and hands each message to a command or a server.",
        examples: [
            (
                "A command for each message, its payload on standard input",
                "kii-push-gateway run --store postgres://gateway@db.example.org/kii --exec ./on-push"
            ),
            ("A server on this machine", "kii-push-gateway run --gateway one --forward-to 3000/push"),
        ],
        discussion: HandlerOptions.discussion(ofFleet: true, inbox: "kii-push-gateway inbox") + [
            "SIGUSR1 writes the state to standard error as JSON, SIGTERM ends it when what has begun is done; a second one at "
                + "once. It has no files to read again, and feeds no watchdog."
        ],
        exitCodes: ExitStatus.ofCloudCommands
            + [.missingInput, .cannotCreate, .inputOutput, .interrupted, .terminated],
        environment: FleetStoreOptions.environment + [.stateHome, .stateDirectory, .path, .notifySocket]
    )

    @OptionGroup var options: GatewayOptions
    @OptionGroup(title: "Fleet") var store: FleetStoreOptions

    @Option(value: "NAME", help: "Be this gateway of the fleet. Default: the machine's name.") var gateway: String?

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Cloud") var connection: ConnectionOptions

    func validate() throws { try self.options.handler.validateAlone() }

    func run() async throws {
        var settings = RunSettings(self.options)
        settings.userAgent = self.connection.userAgent
        let store = try self.store.required()
        // The file is written only every 15 s, since the metrics query the database.
        let metrics = try await MetricsPublisher.start(
            settings, interval: .seconds(15), console: self.output.console)
        do {
            try await GatewaySession(
                settings, store, name: self.gateway, self.connection, metrics, self.output.console
            ).run()
        } catch {
            await metrics?.stop()
            throw error
        }
        await metrics?.stop()
    }
}

struct GatewayOptions: ParsableArguments {
    @OptionGroup(title: "Handler") var handler: HandlerOptions
    @OptionGroup(title: "Metrics") var metrics: MetricsOptions
    @Argument(value: "ARG", help: "Further arguments of COMMAND, after '--'.") var arguments: [String] = []
}
#endif
