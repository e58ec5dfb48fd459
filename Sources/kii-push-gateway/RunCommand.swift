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
        discussion: [
            "A command answers by its exit status: 0 newData, 10 noData, 65 never again, 75 or any other failed. It finds "
                + "KII_PUSH_AGENT, KII_PUSH_ID, KII_PUSH_KIND, KII_PUSH_TOPIC or KII_PUSH_BUCKET, KII_PUSH_ATTEMPT, "
                + "KII_PUSH_DEADLINE (milliseconds since 1970) and KII_PUSH_PAYLOAD_FILE in its environment.",
            "A server answers by its HTTP status: 204 noData, any other 2xx newData; 400, 409, 410, 413, 415 and 422, and "
                + "any other 4xx with 'Kii-Push-Result: rejected', never again; any other or none failed. It gets "
                + "Kii-Push-Agent, Kii-Push-Id, Kii-Push-Kind, Kii-Push-Topic or Kii-Push-Bucket, and Kii-Push-Attempt. With "
                + "Retry-After it is left alone until then, 5 min at most.",
            "What failed, was killed or did not answer within 30 s is tried again after 1 s, 5 s, 30 s, 5 min and 30 min; "
                + "then, as what was refused for good, it is kept for 'kii-push-gateway inbox'.",
            "SIGUSR1 writes the state to standard error as JSON, SIGTERM ends it when what has begun is done; a second one at "
                + "once. It has no files to read again, and feeds no watchdog.",
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
        // Each reading of the metrics queries the database.
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

/// The options of ``RunOptions`` that apply to a gateway.
struct GatewayOptions: ParsableArguments {
    @OptionGroup(title: "Handler") var handler: HandlerOptions
    @OptionGroup(title: "Metrics") var metrics: MetricsOptions
    @Argument(value: "ARG", help: "Further arguments of COMMAND, after '--'.") var arguments: [String] = []
}
#endif
