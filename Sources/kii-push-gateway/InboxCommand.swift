#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct InboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox", abstract: "Shows what gateways keep in the database; retries or drops messages.",
        examples: [
            ("What is not done yet, and what was given up on", "kii-push-gateway inbox list"),
            ("How many there are", "kii-push-gateway inbox stats"),
            ("The reason is mended: try them again", "kii-push-gateway inbox retry --all"),
        ],
        subcommands: [
            InboxListCommand.self, InboxStatsCommand.self, InboxRetryCommand.self, InboxDropCommand.self,
        ]
    )
}

struct InboxListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists messages, in the order of their reception.",
        examples: [
            ("All that are not done", "kii-push-gateway inbox list --store postgres://gateway@db.example.org/kii"),
            ("Those that were given up on, and why", "kii-push-gateway inbox list --state dead"),
        ],
        exitCodes: FleetStoreOptions.lookupExitCodes, environment: FleetStoreOptions.environment
    )

    @OptionGroup var list: MessageListOptions
    @OptionGroup var options: FleetCommandOptions

    func run() async throws {
        let console = self.options.console
        let fleet = try self.options.fleet()
        console.tellZone()
        try await fleet.forEachMessage(self.list.states, newest: self.list.limit?.value) {
            try console.show(inList: $0)
        }
    }
}

struct InboxStatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Shows how many messages were received, and where every one of them stands.",
        examples: [("How many were given up on?", "kii-push-gateway inbox stats --json | jq .dead")],
        exitCodes: FleetStoreOptions.lookupExitCodes, environment: FleetStoreOptions.environment
    )

    @OptionGroup var options: FleetCommandOptions

    func run() async throws { try self.options.console.show(try await self.options.fleet().ledger()) }
}

struct InboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Has messages handled again, as if they had just been received.",
        examples: [
            ("One", "kii-push-gateway inbox retry 65553 --store postgres://operator@db.example.org/kii"),
            ("All dead letters", "kii-push-gateway inbox retry --all"),
        ],
        discussion: [
            "The gateway that has the message does it within 3 s; where none has answered after 8 s, the command ends "
                + "(exit 75), and the next gateway that has the message does it. One whose handler runs is left to it (exit 75)."
        ],
        exitCodes: FleetStoreOptions.lookupExitCodes + [.temporary], environment: FleetStoreOptions.environment
    )

    @OptionGroup(title: "Messages") var messages: DecisionOptions

    func run() async throws { try await self.messages.ask(for: .retry) }
}

struct InboxDropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Removes messages for good, wherever they stand.",
        examples: [
            ("One", "kii-push-gateway inbox drop 65553 --store postgres://operator@db.example.org/kii"),
            ("All dead letters", "kii-push-gateway inbox drop --all"),
        ],
        discussion: ["The gateway that has the message does it, as with 'kii-push-gateway inbox retry'."],
        exitCodes: FleetStoreOptions.lookupExitCodes + [.temporary], environment: FleetStoreOptions.environment
    )

    @OptionGroup(title: "Messages") var messages: DecisionOptions

    func run() async throws { try await self.messages.ask(for: .drop) }
}

struct DecisionOptions: ParsableArguments {
    @OptionGroup var chosen: ChosenMessages
    @OptionGroup var options: FleetCommandOptions

    func ask(for decision: PushRuntime.Decision) async throws {
        let fleet = try self.options.fleet()
        var rest = try await self.chosen.all ? fleet.deadLetters() : self.chosen.numbers.map(\.value)
        var report = DecisionReport(decision, on: self.options.console)
        while !rest.isEmpty {
            let next = Array(rest.prefix(Fleet.requestsAtOnce))
            rest.removeFirst(next.count)
            // After the first request without an answer, further requests do not wait.
            let patience: Duration = report.asked.isEmpty ? .seconds(8) : .zero
            let answers = try await fleet.decide(decision, next, patience: patience)
            for id in next { try report.note(answers[id], of: id) }
        }
        try report.end(list: "kii-push-gateway inbox list")
    }
}
#endif
