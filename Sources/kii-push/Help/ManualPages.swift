import Glibc
import KiiPushCore

/// The manual pages: one for the tool, one for each command, and one for what `--json` prints.
struct ManualPages {
    let tool: CommandDescription

    var files: [(name: String, text: String)] {
        let commands = self.tool.withAllBelow.map { command in
            (command.words.joined(separator: "-") + ".1", ManualPage(command: command, tool: self.tool).text)
        }
        return commands + [("kii-push.json.5", self.jsonPage)]
    }

    /// Writes every page into `directory`, replacing those of the same names.
    ///
    /// - Throws: ``CommandFailure`` or ``FileError``, with exit 73 when a file or the directory cannot be made, 74 when writing
    ///   fails.
    func write(to directory: String) throws {
        if mkdir(directory, 0o755) != 0, errno != EEXIST {
            throw CommandFailure(.cannotCreate, "cannot make the directory \(directory): \(errorText(errno))")
        }
        for (name, text) in self.files {
            try OwnFile.replace("\(directory)/\(name)", with: Array(text.utf8), mode: 0o644, isDurable: false)
        }
    }

    private var jsonPage: String {
        var roff = RoffText()
        roff.head("kii-push.json", "what kii-push prints with --json", of: self.tool, "5", "File formats")
        roff.macro("SH", "DESCRIPTION")
        roff.page(OutputSchema.help(76))
        roff.macro("SH", "SEE ALSO")
        roff.references([("kii-push", 1)])
        return roff.text
    }
}

/// The manual page of one command.
///
/// - Source: man-pages(7) for the sections; the examples come first, as in `--help`.
struct ManualPage {
    let command: CommandDescription
    let tool: CommandDescription

    var text: String {
        let configuration = self.command.configuration
        var roff = RoffText()
        let name = self.command.words.joined(separator: "-")
        roff.head(name, configuration.abstract, of: self.tool, "1", "User commands")
        roff.macro("SH", "SYNOPSIS")
        roff.bold(self.command.path)
        roff.line(String(self.command.usage.dropFirst(self.command.path.count + 1)))
        self.examples(&roff)
        if !configuration.discussion.isEmpty {
            roff.macro("SH", "DESCRIPTION")
            for paragraph in configuration.discussion { roff.page(paragraph) }
        }
        roff.section("COMMANDS", self.command.subcommands.map { ($0.name, $0.configuration.abstract) })
        for (title, arguments) in self.command.sections {
            roff.section(title.uppercased(), arguments.map { ($0.label, $0.helpWithDefault) })
        }
        roff.section("EXIT STATUS", self.command.exitCodes.map(\.row))
        if self.isTool { roff.page(HelpTopic.brokenOutput) }
        let variables = self.isTool ? EnvironmentVariable.allCases : configuration.environment
        roff.section("ENVIRONMENT", variables.map(\.row))
        if self.isTool {
            self.topics(&roff)
        } else if !variables.isEmpty {
            roff.macro("SH", "FILES")
            roff.line("Profiles, their secrets and their state are described below FILES in kii-push(1).")
        }
        roff.macro("SH", "SEE ALSO")
        roff.references(self.references)
        return roff.text
    }

    private var isTool: Bool { self.command.words.count == 1 }

    private func examples(_ roff: inout RoffText) {
        guard !self.command.configuration.examples.isEmpty else { return }
        roff.macro("SH", "EXAMPLES")
        for example in self.command.configuration.examples {
            roff.macro("PP")
            roff.line(example.purpose + (example.purpose.hasSuffix("?") ? "" : ":"))
            roff.verbatim([example.line])
        }
    }

    /// What is on no command's page, of which the topics with tables are above already.
    private func topics(_ roff: inout RoffText) {
        roff.page(HelpTopic.precedence)
        let others = HelpTopic.all.filter { !["environment", "exit-codes", "json"].contains($0.name) }
        for topic in others {
            roff.macro("SH", topic.name.uppercased())
            roff.page(topic.text(76))
        }
    }

    private var references: [(String, Int)] {
        let pages = self.isTool ? self.tool.withAllBelow.dropFirst() : self.command.subcommands[...]
        let others = pages.map { ($0.words.joined(separator: "-"), 1) }
        return (self.isTool ? [] : [("kii-push", 1)]) + others + [("kii-push.json", 5)]
    }
}

extension RoffText {
    /// The beginning of a page, with the line that whatis(1) reads.
    fileprivate mutating func head(
        _ name: String, _ abstract: String, of tool: CommandDescription, _ section: String, _ manual: String
    ) {
        let source = "kii-push \(tool.configuration.version ?? "")"
        self.macro("TH", name.uppercased(), section, "", source, manual)
        self.macro("SH", "NAME")
        self.line("\(name) - \(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract)")
    }

    fileprivate mutating func references(_ pages: [(String, Int)]) {
        self.line(pages.map { "\($0)(\($1))" }.joined(separator: ", "))
    }
}
