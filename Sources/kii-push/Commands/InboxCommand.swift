import KiiPushCore
import KiiPushPostgres

/// Groups what looks into an inbox, and what decides about its dead letters.
struct InboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox", abstract: "Shows what is stored on this machine; retries, drops or adopts messages.",
        examples: [
            ("What is not done yet, and what was given up on", "kii-push inbox list"),
            ("How many there are", "kii-push inbox stats"),
            ("One message with its payload", "kii-push trace 17 --payload"),
            ("The reason is mended: try them again", "kii-push inbox retry --all"),
        ],
        subcommands: [
            InboxListCommand.self, InboxStatsCommand.self, InboxRetryCommand.self, InboxDropCommand.self,
            InboxAdoptCommand.self,
        ]
    )

    static let readingExitCodes: [ExitStatus] = [.missingInput, .unreachable, .inputOutput, .configuration]
    static let environment: [EnvironmentVariable] =
        [.profile, .stateHome, .stateDirectory] + EnvironmentVariable.ofFleetPasswords
}

struct InboxListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists messages, in the order of their reception.",
        examples: [
            ("All that are not done", "kii-push inbox list"),
            ("Those that were given up on, and why", "kii-push inbox list --state dead"),
            ("The last three", "kii-push inbox list -n3 --state done --state dead --state waiting"),
        ]
            + CommandConfiguration.ofFleet(
                "Of a fleet", "kii-push inbox list --store postgres://gateway@db.example.org/kii"),
        discussion: ["It reads the inbox, also while 'listen' or another program receives with it."],
        exitCodes: InboxCommand.readingExitCodes, environment: InboxCommand.environment
    )

    @Option(
        value: "STATE",
        help: "Only these: waiting, running, retry, presented, done or dead. May be repeated. Default: all but done.")
    var state: [MessageRecord.Standing] = []

    @Option(name: .customShort("n"), value: "N", help: "Only the newest N, the oldest of them first. Default: all.")
    var limit: PositiveCount?

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Inbox") var inbox: InboxOptions
    @OptionGroup(title: "Inbox") var store: FleetInboxOptions

    func validate() throws { try self.inbox.exclude(self.store) }

    func run() async throws {
        let states = Set(self.state.isEmpty ? MessageRecord.Standing.allCases.filter { $0 != .done } : self.state)
        let console = self.output.console
        #if Postgres
        if let fleet = try self.store.fleet() { return try await self.list(fleet, states) }
        #endif
        let reader = try InboxReader(stateDirectory: self.inbox.directory())
        self.tellZone()
        guard let limit = self.limit.map({ min($0.value, 1 << 32) }) else {
            return try reader.forEach(states) { try console.show(inList: $0) }
        }
        // From further and further back, until there are enough.
        let newest = try reader.lastMessageID()
        var reach = Int64(limit) * 4
        while true {
            let start = max(0, newest - max(reach, 100))
            var found: [MessageRecord] = []
            try reader.forEach(states, after: start) { message in
                if found.count >= 2 * limit { found.removeFirst(limit) }
                found.append(message)
            }
            guard found.count >= limit || start == 0 else {
                reach = reach.multipliedReportingOverflow(by: 8).overflow ? newest : reach * 8
                continue
            }
            for message in found.suffix(limit) { try console.show(inList: message) }
            return
        }
    }
}

extension InboxListCommand {
    private func tellZone() {
        let console = self.output.console
        if !console.options.json { console.status("> Times are \(Timestamp.now().localZone).") }
    }

    #if Postgres
    private func list(
        _ fleet: Fleet, _ states: Set<MessageRecord.Standing>
    ) async throws {
        self.tellZone()
        let console = self.output.console
        try await fleet.forEachMessage(states, newest: self.limit?.value) { try console.show(inList: $0) }
    }
    #endif
}

struct InboxStatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Shows how many messages were received, and where every one of them stands.",
        examples: [("How many were given up on?", "kii-push inbox stats --json | jq .dead")],
        discussion: [
            "'lost' counts messages that were acknowledged and are gone: with a damaged file, or with one that was removed or "
                + "replaced by an older one. It then looks at every message, and fails if one cannot be read or is "
                + "missing."
        ],
        exitCodes: InboxCommand.readingExitCodes, environment: InboxCommand.environment
    )

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Inbox") var inbox: InboxOptions
    @OptionGroup(title: "Inbox") var store: FleetInboxOptions

    func validate() throws { try self.inbox.exclude(self.store) }

    func run() async throws {
        #if Postgres
        if let fleet = try self.store.fleet() { return try self.show(try await fleet.ledger()) }
        #endif
        let reader = try InboxReader(stateDirectory: self.inbox.directory())
        try self.show(reader.ledger())
        // What the file counts it may not hold any more.
        try reader.verify()
    }

    private func show(_ ledger: MessageLedger) throws {
        let rows = ledger.counts + [("unaccounted", ledger.unaccounted)]
        for (name, count) in rows where name != "unaccounted" || count != 0 {
            try self.output.console.line("\(name.padded(to: 13)) \(count)")
        }
        try self.output.console.object("inbox", rows.map { ($0, JSONValue($1)) })
    }
}

extension MessageRecord.Standing: ExpressibleByArgument {}

extension MessageLedger {
    var counts: [(String, Int64)] {
        [
            ("received", self.received), ("duplicates", self.duplicates), ("waiting", self.waiting),
            ("running", self.running), ("presented", self.presented), ("done", self.done), ("dead", self.dead),
            ("expired", self.expired), ("lost", self.lost), ("dropped", self.dropped),
        ]
    }
}

extension InboxReader {
    /// Goes through the messages in these states, a page at a time: a backlog may be larger than the memory.
    func forEach(
        _ states: Set<MessageRecord.Standing>, after start: Int64 = 0, _ body: (MessageRecord) throws -> Void
    ) throws {
        var last = start
        while let end = try self.messages(states, after: last).map({ message in
            try body(message)
            return message.messageID
        }).last { last = end }
    }
}
