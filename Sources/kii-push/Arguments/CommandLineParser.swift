/// What a whole command line asks for.
enum CommandRequest {
    case run(any ParsableCommand)
    /// Text for standard output, and nothing else to do.
    case show(String)
}

/// Finds the command that a command line names and fills it in.
struct CommandLineParser {
    let root: any ParsableCommand.Type
    /// How many columns the text to show may take.
    var width = 80

    func parse(_ words: [String]) throws -> CommandRequest {
        let rootName = self.root.configuration.commandName
        if words.first == "--version", let version = self.root.configuration.version {
            return .show("\(rootName) \(version)\n")
        }
        let (profile, behind) = Self.leadingProfile(words[...])
        var (type, path, rest) = try self.command(for: behind)
        if !profile.isEmpty { rest = profile + rest }
        // Asking for help wins over whatever else is wrong with the line.
        let asked = Set(rest.prefix { $0 != "--" }).intersection(["-h", "--help", "--help-all"])
        if !asked.isEmpty || words.isEmpty {
            let parents = path.split(separator: " ").dropLast().map(String.init)
            let command = CommandDescription(type, below: parents)
            return .show(HelpText(command, width: self.width, isWhole: asked.contains("--help-all")).text)
        }
        guard type.configuration.subcommands.isEmpty else {
            throw Self.missingCommand(
                of: type, path: path, before: behind.isEmpty ? nil : rest.dropFirst(profile.count).first)
        }
        return .run(try Self.parse(type, rest, path: path))
    }

    /// The words before a command that name the profile, `-p NAME` in any of its forms, and the words behind them.
    private static func leadingProfile(
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

    /// Goes down the tree as far as the words name commands.
    private func command(
        for words: ArraySlice<String>
    ) throws(UsageError) -> (type: any ParsableCommand.Type, path: String, rest: ArraySlice<String>) {
        var type = self.root
        var path = type.configuration.commandName
        var rest = words
        while let word = rest.first, !word.hasPrefix("-"), !type.configuration.subcommands.isEmpty {
            guard let next = type.configuration.subcommands.first(where: { $0.answers(to: word) }) else {
                throw Self.unknownCommand(word, below: type, path: path)
            }
            type = next
            path += " \(next.configuration.commandName)"
            rest = rest.dropFirst()
        }
        return (type, path, rest)
    }

    private static func parse<Command: ParsableCommand>(
        _ type: Command.Type,
        _ words: ArraySlice<String>,
        path: String
    ) throws(UsageError) -> Command {
        let command = Command()
        var parser = ArgumentParser(command.boundArguments(), words: words, commandPath: path)
        try parser.parse()
        do {
            try command.validateAll()
        } catch let error as ValidationError {
            throw UsageError(error.message, commandPath: path)
        } catch {
            throw UsageError("\(error)", commandPath: path)
        }
        return command
    }

    private static func missingCommand(
        of type: any ParsableCommand.Type,
        path: String,
        before word: String?
    ) -> UsageError {
        let shown = type.configuration.subcommands.map { $0.configuration }.filter { !$0.isHidden }
        let names = shown.map(\.commandName).joined(separator: ", ")
        guard let word else {
            return UsageError("a command is missing: one of \(names)", commandPath: path)
        }
        return UsageError("'\(word)' comes before a command; put it after the command", commandPath: path)
    }

    /// `path` starts with the tool's own name, which a guess leaves out.
    private static func unknownCommand(
        _ word: String,
        below type: any ParsableCommand.Type,
        path: String
    ) -> UsageError {
        let names = type.configuration.subcommands.map { $0.configuration }.filter { !$0.isHidden }
            .flatMap { [$0.commandName] + $0.aliases }
        let likely = type.configuration.likelySubcommand.map {
            (path.split(separator: " ").dropFirst() + [$0[...], word[...]]).joined(separator: " ")
        }
        let guess = (suggestion(for: word, among: names) ?? likely).map { "; did you mean '\($0)'?" } ?? ""
        return UsageError("unknown command '\(word)'\(guess)", commandPath: path)
    }
}

extension ParsableCommand {
    fileprivate static func answers(to word: String) -> Bool {
        self.configuration.commandName == word || self.configuration.aliases.contains(word)
    }
}
