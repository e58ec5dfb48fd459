import Glibc
import KiiPushCore

/// The manual pages: one for the tool, one for each command, and one for what `--json` prints.
struct ManualPages {
    let tool: CommandDescription

    /// The pages by the names of their files.
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
        roff.macro("TH", "KII-PUSH.JSON", "5", "", "kii-push \(self.tool.configuration.version ?? "")", "File formats")
        roff.macro("SH", "NAME")
        roff.title("kii-push.json", "what kii-push prints with --json")
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
        let source = "kii-push \(self.tool.configuration.version ?? "")"
        roff.macro("TH", name.uppercased(), "1", "", source, "User commands")
        roff.macro("SH", "NAME")
        roff.title(name, configuration.abstract)
        roff.macro("SH", "SYNOPSIS")
        roff.bold(self.command.path)
        roff.line(String(self.command.usage.dropFirst(self.command.path.count + 1)))
        self.examples(&roff)
        if !configuration.discussion.isEmpty {
            roff.macro("SH", "DESCRIPTION")
            for paragraph in configuration.discussion { roff.page(paragraph) }
        }
        self.subcommands(&roff)
        for (title, arguments) in self.command.sections {
            roff.macro("SH", title.uppercased())
            for argument in arguments { roff.entry(argument.label, argument.helpWithDefault) }
        }
        self.endings(&roff)
        if self.isTool { self.topics(&roff) }
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

    private func subcommands(_ roff: inout RoffText) {
        guard self.command.isGroup else { return }
        roff.macro("SH", "COMMANDS")
        for next in self.command.subcommands { roff.entry(next.name, next.configuration.abstract) }
    }

    private func endings(_ roff: inout RoffText) {
        let variables = self.isTool ? EnvironmentVariable.allCases : self.command.configuration.environment
        if !self.command.exitCodes.isEmpty {
            roff.macro("SH", "EXIT STATUS")
            for code in self.command.exitCodes { roff.entry(String(code.rawValue), code.meaning) }
            if self.isTool {
                roff.macro("PP")
                roff.line(HelpTopic.brokenOutput)
            }
        }
        if !variables.isEmpty {
            roff.macro("SH", "ENVIRONMENT")
            for variable in variables { roff.entry(variable.rawValue, variable.meaning) }
        }
        guard !self.isTool, !self.command.configuration.environment.isEmpty else { return }
        roff.macro("SH", "FILES")
        roff.line("Profiles, their secrets and their state are described below FILES in kii-push(1).")
    }

    /// What is on no command's page, of which the topics with tables are above already.
    private func topics(_ roff: inout RoffText) {
        roff.macro("PP")
        roff.line(HelpTopic.precedence)
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
    /// The line that whatis(1) reads.
    fileprivate mutating func title(_ name: String, _ abstract: String) {
        self.line("\(name) - \(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract)")
    }

    /// Other pages, one after the other.
    fileprivate mutating func references(_ pages: [(String, Int)]) {
        self.line(pages.map { "\($0)(\($1))" }.joined(separator: ", "))
    }
}
