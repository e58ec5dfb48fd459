/// Values that are read from a command line: each property is declared with ``Option``, ``Flag``, ``Argument`` or
/// ``OptionGroup``, and parsing and help text both come from these declarations.
///
/// The shape is swift-argument-parser's, so that a command can move there by changing its imports.
package protocol ParsableArguments: SendableMetatype {
    init()

    /// Checks what one declaration alone cannot: options that exclude or need each other.
    func validate() throws
}

extension ParsableArguments {
    package func validate() throws {}
}

/// A command: values, a description and something to do.
package protocol ParsableCommand: ParsableArguments {
    static var configuration: CommandConfiguration { get }

    func run() async throws
}

extension ParsableCommand {
    /// A command with subcommands does not run by itself: the parser asks for a subcommand first.
    package func run() async throws {
        throw CommandFailure(.usage, "a command is missing", helpPath: Self.configuration.commandName)
    }
}

package struct CommandConfiguration: Sendable {
    package var commandName: String
    /// One line, with a full stop.
    package var abstract: String
    /// Example command lines, each with its purpose. Help shows them before the options.
    package var examples: [(purpose: String, line: String)] = []
    /// Paragraphs below the examples; each line is wrapped on its own.
    package var discussion: [String] = []
    package var subcommands: [any ParsableCommand.Type] = []
    /// The headings below which help lists the subcommands, and the names of those below each. Default: one for all.
    package var groups: [(title: String, names: [String])] = []
    /// The best guess for a subcommand if a word neither names nor resembles one.
    package var likelySubcommand: String?
    package var isHidden = false
    package var aliases: [String] = []
    /// The exit codes that this command can end with, beyond 0 and 64.
    package var exitCodes: [ExitStatus] = []
    package var environment: [EnvironmentVariable] = []
    /// The program that runs the command instead of this one, with all words after its name.
    package var program: String?
    /// Only on the tool itself: commands and options that another program has, and that program.
    package var elsewhere: (words: [String], program: String)?
    /// Only on the tool itself: the pages of `help` that belong to no command.
    package var topics: [String]
    /// Only on the tool itself: what `--version` prints.
    package var version: String?

    package init(
        commandName: String, abstract: String, examples: [(purpose: String, line: String)] = [],
        discussion: [String] = [], subcommands: [any ParsableCommand.Type] = [],
        groups: [(title: String, names: [String])] = [], likelySubcommand: String? = nil,
        isHidden: Bool = false, aliases: [String] = [], exitCodes: [ExitStatus] = [],
        environment: [EnvironmentVariable] = [], program: String? = nil,
        elsewhere: (words: [String], program: String)? = nil, topics: [String] = [], version: String? = nil
    ) {
        self.commandName = commandName
        self.abstract = abstract
        self.examples = examples
        self.discussion = discussion
        self.subcommands = subcommands
        self.groups = groups
        self.likelySubcommand = likelySubcommand
        self.isHidden = isHidden
        self.aliases = aliases
        self.exitCodes = exitCodes
        self.environment = environment
        self.program = program
        self.elsewhere = elsewhere
        self.topics = topics
        self.version = version
    }
}
