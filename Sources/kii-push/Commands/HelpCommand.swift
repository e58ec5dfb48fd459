import KiiPushCommandLine

struct HelpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help", abstract: "Shows the page of a command or topic.",
        examples: [
            ("A command", "kii-push help send topic"),
            ("A topic", "kii-push help exit-codes"),
            ("Every command on a line", "kii-push help --tree"),
        ],
        discussion: ["Each command shows its page with --help, too."]
    )

    @Argument(value: "WORD", help: "A command, or a topic.", completion: .asked(.pages)) var words: [String] = []

    @Flag(help: "Every command on a line of its own.") var tree = false

    func run() async throws {
        let page = try HelpPage(self.words, of: CommandDescription(KiiPushCommand.self))
        if !self.tree, case .command(let command) = page, let program = command.configuration.program {
            return try OtherProgram(name: program).run(["--help"])
        }
        let output = StandardStream.output
        guard self.tree else { return try output.write(page.text(width: output.textWidth())) }
        guard case .command(let command) = page else {
            throw CommandFailure(.usage, "'--tree' is for commands", helpPath: "kii-push help")
        }
        try output.write(command.tree)
    }
}

extension CommandDescription {
    fileprivate var tree: String {
        let rows = self.selfAndDescendants.map { command in
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

    init(_ words: [String], of tool: CommandDescription) throws(CommandFailure) {
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
        case .command(let command): command.help(width: width)
        case .topic(let topic): topic.text(width)
        }
    }

    static func next(after words: [String], of tool: CommandDescription) -> [String] {
        let command = words.reduce(Optional(tool)) { command, word in command?.subcommand(word) }
        return (command?.subcommands.map(\.name) ?? []) + (words.isEmpty ? HelpTopic.all.map(\.name) : [])
    }

    private static func unknown(_ words: [String], below command: CommandDescription) -> CommandFailure {
        let topics = HelpTopic.all.map(\.name)
        let names = command.subcommands.flatMap(\.names) + (words.count == 1 ? topics : [])
        let guess = words.last.flatMap { suggestion(for: $0, among: names) }.map {
            "; did you mean '\((words.dropLast() + [$0]).joined(separator: " "))'?"
        }
        return CommandFailure(
            .usage, "there is no command or topic '\(words.joined(separator: " "))'\(guess ?? "")",
            helpPath: "kii-push",
            hint: "the topics are \(topics.joined(separator: ", ")); for the commands see 'kii-push --help'")
    }
}
