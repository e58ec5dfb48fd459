/// The help page of a command: purpose, examples, usage, values by group, exit codes, environment.
struct HelpText {
    private let configuration: CommandConfiguration
    private let arguments: [ArgumentDefinition]
    private let path: String

    init(_ type: any ParsableCommand.Type, path: String) {
        self.configuration = type.configuration
        self.arguments = type.init().boundArguments().map(\.definition)
        self.path = path
    }

    var text: String {
        var sections = [self.configuration.abstract]
        sections += [self.examples].compactMap { $0 }
        sections += self.configuration.discussion.map { wrapped($0) }
        sections.append("Usage: \(self.usage)")
        sections += [self.subcommands].compactMap { $0 }
        sections += self.argumentSections
        sections += [self.exitCodes, self.environment].compactMap { $0 }
        if !self.configuration.subcommands.isEmpty {
            let topics = HelpTopic.allCases.map(\.rawValue).joined(separator: ", ")
            sections.append(wrapped("'\(self.path) COMMAND --help' tells more; 'kii-push help TOPIC' too: \(topics)."))
        }
        return sections.joined(separator: "\n\n") + "\n"
    }

    private var examples: String? {
        guard !self.configuration.examples.isEmpty else { return nil }
        let lines = self.configuration.examples.map { "  # \($0.purpose)\n  \($0.line)" }
        return "Examples:\n" + lines.joined(separator: "\n")
    }

    private var usage: String {
        guard self.configuration.subcommands.isEmpty else { return "\(self.path) COMMAND" }
        let isPositional = { (argument: ArgumentDefinition) in argument.short == nil && argument.long == nil }
        let required = self.arguments.filter { !isPositional($0) && $0.isRequired }.map(\.usageLabel)
        let positional = self.arguments.filter(isPositional).map(\.usageLabel)
        return ([self.path] + required + ["[OPTIONS]"] + positional).joined(separator: " ")
    }

    private var subcommands: String? {
        guard !self.configuration.subcommands.isEmpty else { return nil }
        let rows = self.configuration.subcommands.map {
            ($0.configuration.commandName, $0.configuration.abstract)
        }
        return "Commands:\n" + table(rows)
    }

    private var argumentSections: [String] {
        var titles: [String] = []
        var rows: [String: [(String, String)]] = [:]
        let help = ArgumentDefinition(kind: .flag, short: "h", long: "help", help: "Show this page.")
        for argument in self.arguments + (self.configuration.subcommands.isEmpty ? [help] : []) {
            let title = argument.section ?? (argument.long == nil && argument.short == nil ? "Arguments" : "Options")
            if rows[title] == nil { titles.append(title) }
            rows[title, default: []].append((argument.label, argument.helpWithDefault))
        }
        // A command's own values first, then what it shares with others.
        let own = titles.filter { $0 == "Arguments" } + titles.filter { $0 == "Options" }
        let shared = titles.filter { $0 != "Arguments" && $0 != "Options" }
        return (own + shared).map { "\($0):\n" + table(rows[$0] ?? []) }
    }

    private var exitCodes: String? {
        guard self.configuration.subcommands.isEmpty else { return nil }
        let codes = [ExitStatus.success, .usage] + self.configuration.exitCodes
        let rows = codes.sorted { $0.rawValue < $1.rawValue }.map { (String($0.rawValue), $0.meaning) }
        return "Exit codes:\n" + table(rows)
    }

    private var environment: String? {
        guard !self.configuration.environment.isEmpty else { return nil }
        return "Environment:\n" + table(self.configuration.environment.map { ($0.rawValue, $0.meaning) })
    }
}

extension ArgumentDefinition {
    fileprivate var helpWithDefault: String {
        guard let defaultText = self.defaultText else { return self.help }
        return "\(self.help) Default: \(defaultText)."
    }
}

/// Two columns within 80 characters; a label that is too wide has its text on the next line.
func table(_ rows: [(String, String)]) -> String {
    let column = min(24, (rows.map(\.0.count).max() ?? 0) + 2)
    let indent = String(repeating: " ", count: column + 2)
    return rows.map { label, text in
        let lines = wrapped(text, width: 78 - column).split(separator: "\n")
        let body = lines.joined(separator: "\n\(indent)")
        guard label.count + 2 <= column else { return "  \(label)\n\(indent)\(body)" }
        return "  \(label)\(String(repeating: " ", count: column - label.count))\(body)"
    }.joined(separator: "\n")
}

/// Breaks each line at spaces, so that none is longer than `width` unless one word is. Indented lines stay as they are.
func wrapped(_ text: String, width: Int = 80) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        guard !line.hasPrefix(" ") else { return String(line) }
        var lines = [""]
        for word in line.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n")
    }.joined(separator: "\n")
}
