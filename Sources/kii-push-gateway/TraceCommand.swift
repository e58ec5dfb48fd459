#if Postgres
import KiiPushCommandLine
import KiiPushPostgres

struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Shows one message's life, from its reception to its end.",
        examples: [
            ("A message", "kii-push-gateway trace 65553 --store postgres://gateway@db.example.org/kii"),
            ("With what it says", "kii-push-gateway trace 65553 --payload"),
        ],
        discussion: [
            "What happens to a message is written together with its answer, so a process that ends before takes the last of it "
                + "along; the trace says what is not recorded."
        ],
        exitCodes: FleetStoreOptions.lookupExitCodes, environment: FleetStoreOptions.environment
    )

    @Flag(help: "Show the payload as well.") var payload = false
    @Argument(value: "ID", help: "The message's number.") var number: MessageNumber
    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        let record = try await self.options.fleet().trace(of: self.number.value)
        try self.options.console.show(record, withPayload: self.payload)
    }
}
#endif
