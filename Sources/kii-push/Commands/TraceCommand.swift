import KiiPushCommandLine
import KiiPushCore

struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Shows one message's life, from its reception to its end. Asks no network.",
        examples: [
            ("The message that 'listen' shows as #17", "kii-push trace 17"),
            ("With what it says", "kii-push trace 17 --payload"),
            ("Of another program's agent", "kii-push trace 17 --state-directory /var/lib/meter"),
            ("How long did its handler take?", "kii-push trace 17 --json | jq '.events[] | [.event, .offset_ms]'"),
        ],
        discussion: [
            "It reads the inbox, also while 'listen' or another program receives with it. What happens to a message is "
                + "written together with its answer, so a process that ends before takes the last of it along; the trace "
                + "says what is not recorded.",
            "Messages that are done are kept for a day, or until there are 64 MiB of them.",
        ],
        exitCodes: InboxCommand.readingExitCodes, environment: InboxCommand.environment
    )

    @Flag(help: "Show the payload as well.") var payload = false
    @Argument(value: "ID", help: "The message's number in the inbox.") var number: MessageNumber
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Inbox") var inbox: InboxOptions

    func run() async throws {
        let reader = try InboxReader(stateDirectory: self.inbox.directory())
        try self.output.console.show(reader.trace(of: self.number.value), withPayload: self.payload)
    }
}

struct InboxOptions: ParsableArguments {
    @OptionGroup(title: "Inbox") var name: ProfileNameOptions

    @Option(
        value: "DIR", help: "The state directory of a program that is none of the profiles.", completion: .directory)
    var stateDirectory: String?

    var option: String {
        if let stateDirectory { return " --state-directory \(stateDirectory.terminalSafe)" }
        return self.name.profile.map { " --profile \($0)" } ?? ""
    }

    func validate() throws { try self.exclude("state-directory", "profile") }

    /// Changes the inbox in this process, if no other process receives with it.
    ///
    /// - Throws: ``CommandFailure`` with exit 75 if another process receives with it and has no control socket.
    func withRuntime<Result: Sendable>(
        _ directory: String, _ body: (PushRuntime) async throws -> Result
    ) async throws -> Result {
        var settings = PushRuntime.Configuration()
        settings.stateDirectory = directory
        let runtime = try PushRuntime(configuration: settings)
        do {
            return try await runtime.shuttingDown { try await body(runtime) }
        } catch PushAgentError.stateDirectoryInUse(_, let processID) {
            throw CommandFailure(
                .temporary, "\(processID.map { "process \($0)" } ?? "another process") receives with this inbox",
                hint: "it has no control socket to ask it by; stop it first")
        }
    }

    func directory() throws -> String {
        if let stateDirectory { return stateDirectory }
        let profile = try Profile(named: self.name.profile)
        _ = try profile.registered()
        return profile.directory
    }
}
