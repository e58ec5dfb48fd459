extension CommandDescription {
    /// The page of the command.
    ///
    /// - Parameter width: the most columns of a line, from 40 to 100.
    package func help(width: Int) -> String {
        let configuration = self.configuration
        var sections = [wrapped(configuration.abstract, width: width)]
        if !configuration.examples.isEmpty {
            let lines = configuration.examples.map { "  # \($0.purpose)\n  \($0.line)" }
            sections.append("Examples:\n" + lines.joined(separator: "\n"))
        }
        sections += configuration.discussion.map { wrapped($0, width: width) }
        sections.append("Usage: \(self.usage)")
        if self.isGroup { sections += self.groupsOfSubcommands(width: width) }
        sections += self.sections.map { title, arguments in
            "\(title):\n" + table(arguments.map { ($0.label, $0.helpWithDefault) }, width: width)
        }
        if !self.isGroup { sections.append("Exit codes:\n" + table(self.exitCodes.map(\.row), width: width)) }
        if !configuration.environment.isEmpty {
            sections.append("Environment:\n" + table(configuration.environment.map(\.row), width: width))
        }
        if self.isGroup {
            let topics = self.topics.joined(separator: ", ")
            let others = topics.isEmpty ? "" : "; '\(self.words[0]) help TOPIC' too: \(topics)"
            sections.append(wrapped("'\(self.path) COMMAND --help' tells more\(others).", width: width))
        }
        return sections.joined(separator: "\n\n") + "\n"
    }

    private func groupsOfSubcommands(width: Int) -> [String] {
        let all = self.subcommands
        let groups = self.configuration.groups
        let column = (all.map(\.name.displayWidth).max() ?? 0) + 2
        return (groups.isEmpty ? [("Commands", all.map(\.name))] : groups).compactMap { title, names in
            let rows = all.filter { names.contains($0.name) }.map { ($0.name, $0.configuration.abstract) }
            guard !rows.isEmpty else { return nil }
            return "\(title):\n" + table(rows, width: width, column: column)
        }
    }
}

/// Two columns within `width`. After a label that is too wide, the text begins on the next line.
package func table(_ rows: [(String, String)], width: Int = 80, column: Int? = nil) -> String {
    let column = column ?? min(24, (rows.map(\.0.displayWidth).max() ?? 0) + 2)
    let indent = String(repeating: " ", count: column + 2)
    return rows.map { label, text in
        let lines = wrapped(text, width: width - 2 - column).split(separator: "\n")
        let body = lines.joined(separator: "\n\(indent)")
        guard label.displayWidth + 2 <= column else { return "  \(label)\n\(indent)\(body)" }
        return "  \(label.padded(to: column))\(body)"
    }.joined(separator: "\n")
}

/// Breaks lines at spaces, so that each fits into `width` unless a single word is longer. Indented lines stay
/// unchanged.
package func wrapped(_ text: String, width: Int = 80) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        guard !line.hasPrefix(" ") else { return String(line) }
        var broken = ""
        var column = 0
        for word in line.split(separator: " ") {
            let length = word.displayWidth
            if column > 0 {
                let fits = column + 1 + length <= width
                broken += fits ? " " : "\n"
                column = fits ? column + 1 : 0
            }
            broken += word
            column += length
        }
        return broken
    }.joined(separator: "\n")
}

package func page(_ before: String, _ rows: [(String, String)], _ after: String, width: Int) -> String {
    [wrapped(before, width: width), table(rows, width: width), wrapped(after, width: width)]
        .joined(separator: "\n\n") + "\n"
}
