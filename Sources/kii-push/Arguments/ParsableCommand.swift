/// Values that are read from a command line: each property is declared with ``Option``, ``Flag``, ``Argument`` or
/// ``OptionGroup``, and parsing and help text both come from these declarations.
///
/// The shape is swift-argument-parser's, so that a command can move there by changing its imports.
protocol ParsableArguments: SendableMetatype {
    init()

    /// Checks what one declaration alone cannot: options that exclude or need each other.
    func validate() throws
}

extension ParsableArguments {
    func validate() throws {}
}

/// A command: values, a description and something to do.
protocol ParsableCommand: ParsableArguments {
    static var configuration: CommandConfiguration { get }

    func run() async throws
}

extension ParsableCommand {
    /// A command that only groups others is never run: the parser asks for one of them first.
    func run() async throws {
        throw UsageError("a command is missing", commandPath: Self.configuration.commandName)
    }
}

struct CommandConfiguration: Sendable {
    var commandName: String
    /// One line, with a full stop.
    var abstract: String
    /// Command lines to copy, with what they do. Shown before every option.
    var examples: [(purpose: String, line: String)] = []
    /// Paragraphs below the examples; each line is wrapped on its own.
    var discussion: [String] = []
    var subcommands: [any ParsableCommand.Type] = []
    /// The headings below which help lists the subcommands, and the names of those below each. Default: one for all.
    var groups: [(title: String, names: [String])] = []
    /// The subcommand that is probably meant where a word names none and resembles none.
    var likelySubcommand: String?
    var isHidden = false
    var aliases: [String] = []
    /// The exit codes that this command can end with, beyond 0 and 64.
    var exitCodes: [ExitStatus] = []
    var environment: [EnvironmentVariable] = []
    /// Only on the tool itself: what `--version` prints.
    var version: String?
}
