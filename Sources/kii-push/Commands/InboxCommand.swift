import KiiPushCommandLine
import KiiPushCore

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
        [.profile, .stateHome, .stateDirectory]
}

struct InboxListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists messages, in the order of their reception.",
        examples: [
            ("All that are not done", "kii-push inbox list"),
            ("Those that were given up on, and why", "kii-push inbox list --state dead"),
            ("The last three", "kii-push inbox list -n3 --state done --state dead --state waiting"),
        ],
        discussion: ["It reads the inbox, also while 'listen' or another program receives with it."],
        exitCodes: InboxCommand.readingExitCodes, environment: InboxCommand.environment
    )

    @OptionGroup var list: MessageListOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Inbox") var inbox: InboxOptions

    func run() async throws {
        let states = self.list.states
        let console = self.output.console
        let reader = try InboxReader(stateDirectory: self.inbox.directory())
        console.tellZone()
        guard let limit = self.list.limit.map({ min($0.value, 1 << 32) }) else {
            return try reader.forEach(states) { try console.show(inList: $0) }
        }
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

    func run() async throws {
        let reader = try InboxReader(stateDirectory: self.inbox.directory())
        try self.output.console.show(reader.ledger())
        try reader.verify()
    }
}

extension InboxReader {
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
