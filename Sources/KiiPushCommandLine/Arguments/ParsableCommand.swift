/// Values that are read from a command line, declared with ``Option``, ``Flag``, ``Argument`` or ``OptionGroup``.
/// Parsing and help use the same declarations. The names follow swift-argument-parser.
package protocol ParsableArguments: SendableMetatype {
    init()

    func validate() throws
}

extension ParsableArguments {
    package func validate() throws {}
}

package protocol ParsableCommand: ParsableArguments {
    static var configuration: CommandConfiguration { get }

    func run() async throws
}

extension ParsableCommand {
    package func run() async throws {
        throw CommandFailure(.usage, "a command is missing", helpPath: Self.configuration.commandName)
    }
}

package struct CommandConfiguration: Sendable {
    package var commandName: String
    /// The command's purpose in one line, with a full stop.
    package var abstract: String
    /// Example command lines, each with its purpose. Help shows them before the options.
    package var examples: [(purpose: String, line: String)] = []
    /// Paragraphs below the examples. Help wraps each of them separately.
    package var discussion: [String] = []
    package var subcommands: [any ParsableCommand.Type] = []
    /// Groups of subcommands for help, each with a heading. Default: one group with all subcommands.
    package var groups: [(title: String, names: [String])] = []
    /// The subcommand to suggest if a word resembles no subcommand.
    package var likelySubcommand: String?
    package var isHidden = false
    package var aliases: [String] = []
    /// The exit codes of this command besides 0 and 64.
    package var exitCodes: [ExitStatus] = []
    package var environment: [EnvironmentVariable] = []
    /// The other program that runs the command, with the words after the command's name; `nil`: this tool runs it.
    package var program: String?
    /// Only for the tool itself: commands and options (`words`) that only `program` has. Errors about them name
    /// `program`.
    package var elsewhere: (words: [String], program: String)?
    /// Only for the tool itself: the pages of `help` that belong to no command.
    package var topics: [String]
    /// Only for the tool itself: the output of `--version`.
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
