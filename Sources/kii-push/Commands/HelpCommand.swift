import KiiPushCore

struct HelpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help", abstract: "Shows the page of a command or topic; writes manual pages.",
        examples: [
            ("A command", "kii-push help send topic"),
            ("A topic", "kii-push help exit-codes"),
            ("The manual pages", "kii-push help --man . && man ./kii-push.1"),
            ("Every command on a line", "kii-push help --tree"),
            ("Every command, for a program", "kii-push help --json | jq -r '.commands[].name'"),
            ("The lines that --json prints, for a program", "kii-push help json --schema"),
        ],
        discussion: ["Each command shows its page with --help, too."],
        exitCodes: [.cannotCreate, .inputOutput]
    )

    @Argument(value: "WORD", help: "A command, or a topic.", completion: .asked(.pages)) var words: [String] = []

    @Option(
        value: "DIR",
        help: "Write all pages for man(1) into this directory, which is made if missing.",
        completion: .directory)
    var man: String?

    @Flag(help: "The command and all below it as one JSON object ('kii-push help json').") var json = false
    @Flag(help: "With 'help json': the JSON Schema of what --json prints.") var schema = false
    @Flag(help: "Every command on a line of its own.") var tree = false

    func validate() throws {
        if self.schema, self.words != ["json"] || self.man != nil || self.json || self.tree {
            throw ValidationError("'--schema' is for 'kii-push help json --schema' alone")
        }
        try self.exclude("tree", "json")
        try self.exclude("tree", "man")
        if self.man != nil, self.json || !self.words.isEmpty {
            throw ValidationError("'--man' writes all pages: it goes with nothing else")
        }
    }

    func run() async throws {
        let tool = CommandDescription(KiiPushCommand.self)
        if let directory = self.man { return try ManualPages(tool: tool).write(to: directory) }
        if self.schema { return try StandardStream.output.write(document: OutputSchema.document) }
        let page = try HelpPage(self.words, of: tool)
        if self.tree {
            guard case .command(let command) = page else {
                throw UsageError("'--tree' is for commands", commandPath: "kii-push help")
            }
            return try StandardStream.output.write(command.tree)
        }
        if self.json { return try Console(.init(json: true)).object("help", page.json) }
        let output = StandardStream.output
        try output.write(page.text(width: output.textWidth()))
    }
}

extension StandardStream {
    func write(document: JSONValue) throws {
        try self.write(document.serialized(.lines) + [UInt8(ascii: "\n")])
    }
}

extension CommandDescription {
    /// It and all below it, one a line, indented by how deep they are.
    fileprivate var tree: String {
        let rows = self.withAllBelow.map { command in
            let indent = String(repeating: "  ", count: command.words.count - self.words.count)
            return (indent + command.name, command.configuration.abstract)
        }
        let column = (rows.map(\.0.displayWidth).max() ?? 0) + 2
        return rows.map { "\($0.padded(to: column))\($1)\n" }.joined()
    }
}

enum HelpPage {
    case command(CommandDescription)
    case topic(HelpTopic)

    /// - Throws: ``UsageError`` naming the topics and the nearest page when the words are none's.
    init(_ words: [String], of tool: CommandDescription) throws(UsageError) {
        if words.count == 1, let topic = HelpTopic.all.first(where: { $0.name == words[0] }) {
            self = .topic(topic)
            return
        }
        var command = tool
        for (index, word) in words.enumerated() {
            guard let next = command.subcommand(word) else {
                throw Self.unknown(Array(words[...index]), below: command)
            }
            command = next
        }
        self = .command(command)
    }

    func text(width: Int) -> String {
        switch self {
        case .command(let command): HelpText(command: command, width: width).text
        case .topic(let topic): topic.text(width)
        }
    }

    var json: [(String, JSONValue)] {
        switch self {
        case .command(let command): command.json + [("topics", HelpTopic.all.map(\.name).json)]
        case .topic(let topic): [("name", JSONValue(topic.name)), ("text", JSONValue(topic.text(80)))]
        }
    }

    /// The words that may follow `words`.
    static func next(after words: [String], of tool: CommandDescription) -> [String] {
        let command = words.reduce(Optional(tool)) { command, word in command?.subcommand(word) }
        return (command?.subcommands.map(\.name) ?? []) + (words.isEmpty ? HelpTopic.all.map(\.name) : [])
    }

    private static func unknown(_ words: [String], below command: CommandDescription) -> UsageError {
        let topics = HelpTopic.all.map(\.name)
        let names = command.subcommands.flatMap(\.names) + (words.count == 1 ? topics : [])
        let guess = words.last.flatMap { suggestion(for: $0, among: names) }.map {
            "; did you mean '\((words.dropLast() + [$0]).joined(separator: " "))'?"
        }
        return UsageError(
            "there is no command or topic '\(words.joined(separator: " "))'\(guess ?? "")",
            commandPath: "kii-push",
            hint: "the topics are \(topics.joined(separator: ", ")); for the commands see 'kii-push --help'")
    }
}
