import KiiPushCore

/// Groups what looks into an inbox, and what decides about its dead letters.
struct InboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Shows what is stored on this machine; retries or drops dead letters.",
        examples: [
            .init("What is not done yet, and what was given up on", "kii-push inbox list"),
            .init("How many there are", "kii-push inbox stats"),
            .init("One message with its payload", "kii-push inbox show 17"),
            .init("The reason is mended: try them again", "kii-push inbox retry --all"),
        ],
        subcommands: [
            InboxListCommand.self, InboxShowCommand.self, InboxStatsCommand.self, InboxRetryCommand.self,
            InboxDropCommand.self,
        ]
    )

    /// Of those that only read.
    static let readingExitCodes: [ExitStatus] = [.missingInput, .inputOutput, .configuration]
    static let environment: [EnvironmentVariable] = [.profile, .stateHome, .stateDirectory]
}

struct InboxListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists messages, in the order of their reception.",
        examples: [
            .init("All that are not done", "kii-push inbox list"),
            .init("Those that were given up on, and why", "kii-push inbox list --state dead"),
            .init("How old is the oldest that waits?", "kii-push inbox list --state waiting --state retry -n1"),
        ],
        discussion: ["It reads the inbox, also while 'listen' or another program receives with it."],
        exitCodes: InboxCommand.readingExitCodes,
        environment: InboxCommand.environment
    )

    @Option(
        value: "STATE",
        help: "Only these: waiting, running, retry, presented, done or dead. May be repeated. Default: all but done."
    )
    var state: [StandingName] = []

    @Option(name: .customShort("n"), value: "N", help: "At most so many. Default: all.")
    var limit: PositiveCount?

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Inbox")
    var inbox: InboxOptions

    func run() async throws {
        let reader = try InboxReader(stateDirectory: self.inbox.directory())
        var states = Set(self.state.map(\.standing))
        if states.isEmpty { states = Set(MessageTrace.Standing.allCases).subtracting([.done]) }
        var remaining = self.limit?.value ?? .max
        var last: Int64 = 0
        // A page at a time: a backlog may be larger than the memory.
        while remaining > 0 {
            let page = try reader.messages(states, after: last, limit: min(remaining, 100))
            guard let end = page.last else { break }
            for message in page { try self.output.console.show(inList: message) }
            last = end.messageID
            remaining -= page.count
        }
    }
}

struct InboxShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows one message with its payload: 'kii-push trace --payload'.",
        examples: [.init("The message that 'inbox list' shows as #17", "kii-push inbox show 17")],
        exitCodes: InboxCommand.readingExitCodes,
        environment: InboxCommand.environment
    )

    @OptionGroup(title: "Message")
    var message: TracedMessageOptions

    func run() async throws { try self.message.show(withPayload: true) }
}

struct InboxStatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows how many messages were received, and where every one of them stands.",
        examples: [.init("How many were given up on?", "kii-push inbox stats --json | jq .dead")],
        exitCodes: InboxCommand.readingExitCodes,
        environment: InboxCommand.environment
    )

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Inbox")
    var inbox: InboxOptions

    func run() async throws {
        let ledger = try InboxReader(stateDirectory: self.inbox.directory()).ledger()
        let rows: [(String, Int64)] = [
            ("received", ledger.received), ("duplicates", ledger.duplicates), ("waiting", ledger.waiting),
            ("running", ledger.running), ("presented", ledger.presented), ("done", ledger.done), ("dead", ledger.dead),
            ("expired", ledger.expired), ("unaccounted", ledger.unaccounted),
        ]
        for (name, count) in rows where name != "unaccounted" || count != 0 {
            try self.output.console.line("\(name.padded(to: 13)) \(count)")
        }
        try self.output.console.object("inbox", rows.map { ($0, JSONValue($1)) })
    }
}

/// A state of messages by its name.
struct StandingName: ExpressibleByArgument {
    let standing: MessageTrace.Standing

    init?(argument: String) {
        guard let standing = MessageTrace.Standing(rawValue: argument) else { return nil }
        self.standing = standing
    }

    static var expectation: String {
        "one of " + MessageTrace.Standing.allCases.map(\.rawValue).joined(separator: ", ")
    }

    static var completion: CompletionKind { .words(MessageTrace.Standing.allCases.map(\.rawValue)) }
}
