enum CommandRequest {
    case run(any ParsableCommand)
    case show(String)
    case pass(OtherProgram, [String])
}

struct CommandLineParser {
    let root: any ParsableCommand.Type
    var width = 80

    func parse(_ words: [String]) throws -> CommandRequest {
        let tool = CommandDescription(self.root)
        if words.first == "--version", let version = tool.configuration.version {
            return .show("\(tool.name) \(version)\n")
        }
        // For tools without a `complete` command. `kii-push` has one, which also completes profiles and messages.
        if words.first == "complete", !tool.configuration.subcommands.contains(where: Self.completes) {
            return .show(Completion(tool: tool, ask: { _, _ in [] }).answer(Array(words.dropFirst(2))).text)
        }
        let (profile, behind) = Self.leadingProfile(words[...])
        let (command, own) = try Self.command(below: tool, for: behind)
        let rest = profile + own
        if let program = command.configuration.program { return .pass(OtherProgram(name: program), Array(rest)) }
        // `--help` after a known command shows its help, even if the rest of the command line is wrong.
        let isAsked = rest.prefix { $0 != "--" }.contains { $0 == "-h" || $0 == "--help" }
        if isAsked || (words.isEmpty && command.isGroup) {
            return .show(command.help(width: self.width))
        }
        guard command.configuration.subcommands.isEmpty else {
            let names = command.subcommands.map(\.name).joined(separator: ", ")
            let problem =
                own.first.map { "'\($0)' comes before a command; put it after the command" }
                ?? "a command is missing: one of \(names)"
            throw CommandFailure(.usage, problem, helpPath: command.path)
        }
        return .run(try Self.parse(command.type, rest, path: command.path))
    }

    private static func completes(_ type: any ParsableCommand.Type) -> Bool {
        type.configuration.commandName == "complete"
    }

    static func leadingProfile(
        _ words: ArraySlice<String>
    ) -> (profile: ArraySlice<String>, behind: ArraySlice<String>) {
        guard let first = words.first else { return ([], words) }
        let isAlone = first == "-p" || first == "--profile"
        guard isAlone || first.hasPrefix("--profile=") || (first.hasPrefix("-p") && !first.hasPrefix("--")) else {
            return ([], words)
        }
        let count = isAlone ? 2 : 1
        return (words.prefix(count), words.dropFirst(count))
    }

    private static func command(
        below tool: CommandDescription, for words: ArraySlice<String>
    ) throws(CommandFailure) -> (command: CommandDescription, rest: ArraySlice<String>) {
        var command = tool
        var rest = words
        while let word = rest.first, !word.hasPrefix("-"), !command.configuration.subcommands.isEmpty {
            guard let next = command.allSubcommands.first(where: { $0.names.contains(word) }) else {
                throw Self.unknownCommand(word, below: command)
            }
            command = next
            rest = rest.dropFirst()
        }
        return (command, rest)
    }

    private static func parse<Command: ParsableCommand>(
        _ type: Command.Type, _ words: ArraySlice<String>, path: String
    ) throws(CommandFailure) -> Command {
        let command = Command()
        var parser = ArgumentParser(command.boundArguments(), words: words, commandPath: path)
        try parser.parse()
        do {
            try command.validateAll()
        } catch {
            throw CommandFailure(.usage, (error as? CommandFailure)?.message ?? "\(error)", helpPath: path)
        }
        return command
    }

    private static func unknownCommand(_ word: String, below command: CommandDescription) -> CommandFailure {
        let likely = command.configuration.likelySubcommand.map {
            (command.words.dropFirst() + [$0, word]).joined(separator: " ")
        }
        let near = suggestion(for: word, among: command.subcommands.flatMap(\.names))
        let guess = (near ?? likely).map { "; did you mean '\($0)'?" } ?? ""
        return CommandFailure(.usage, "unknown command '\(word)'\(guess)", helpPath: command.path)
    }
}
