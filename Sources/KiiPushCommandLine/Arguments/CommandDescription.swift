/// A command for help and completion: its texts, options, arguments and subcommands. Options and arguments are read
/// only when needed.
package struct CommandDescription {
    package let type: any ParsableCommand.Type
    package let configuration: CommandConfiguration
    /// The words of the command, beginning with the tool's name.
    package let words: [String]
    package let topics: [String]

    package init(_ type: any ParsableCommand.Type, below parents: [String] = [], topics: [String]? = nil) {
        self.type = type
        self.configuration = type.configuration
        self.words = parents + [self.configuration.commandName]
        self.topics = topics ?? self.configuration.topics
    }

    package var arguments: [ArgumentDefinition] {
        let help = ArgumentDefinition(kind: .flag, short: "h", long: "help", help: "Show this page.")
        let version = ArgumentDefinition(kind: .flag, long: "version", help: "Print the version.")
        return self.type.init().boundArguments().map(\.definition) + [help]
            + (self.configuration.version == nil ? [] : [version])
    }

    /// Contains the hidden subcommands too, which the parser accepts.
    var allSubcommands: [CommandDescription] {
        self.configuration.subcommands.map { CommandDescription($0, below: self.words, topics: self.topics) }
    }

    package var subcommands: [CommandDescription] { self.allSubcommands.filter { !$0.configuration.isHidden } }
    package var name: String { self.configuration.commandName }
    package var path: String { self.words.joined(separator: " ") }
    var isGroup: Bool { !self.subcommands.isEmpty }
    package var options: [ArgumentDefinition] { self.arguments.filter { !$0.isPositional } }
    var positionals: [ArgumentDefinition] { self.arguments.filter(\.isPositional) }
    /// Without hidden commands.
    package var selfAndDescendants: [CommandDescription] { [self] + self.subcommands.flatMap(\.selfAndDescendants) }

    package var usage: String {
        guard !self.isGroup else { return "\(self.path) COMMAND" }
        let required = self.options.filter(\.isRequired).map(\.usageLabel)
        return ([self.path] + required + ["[OPTIONS]"] + self.positionals.map(\.usageLabel)).joined(separator: " ")
    }

    package var sections: [(title: String, arguments: [ArgumentDefinition])] {
        var titles: [String] = []
        var members: [String: [ArgumentDefinition]] = [:]
        for argument in self.arguments {
            let title = argument.section ?? (argument.isPositional ? "Arguments" : "Options")
            if members[title] == nil { titles.append(title) }
            members[title, default: []].append(argument)
        }
        let own = ["Arguments", "Options"].filter(titles.contains)
        return (own + titles.filter { !own.contains($0) }).map { ($0, members[$0] ?? []) }
    }

    var exitCodes: [ExitStatus] {
        Set([.success, .usage] + self.configuration.exitCodes).sorted { $0.rawValue < $1.rawValue }
    }

    package func subcommand(_ word: String) -> CommandDescription? {
        self.subcommands.first { $0.names.contains(word) }
    }
    package var names: [String] { [self.name] + self.configuration.aliases }
}
