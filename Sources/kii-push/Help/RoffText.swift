/// Text in the macros of man(7), built line by line.
///
/// - Source: man(7), groff_man_style(7).
struct RoffText {
    private(set) var text = ""

    mutating func macro(_ name: String, _ arguments: String...) {
        let quoted = arguments.map { "\"\(Self.escaped($0).replacing("\"", with: "\\(dq"))\"" }
        self.text += ([".\(name)"] + quoted).joined(separator: " ") + "\n"
    }

    /// Words to be filled. A blank line would be a break of its own, so there is none.
    mutating func line(_ words: String) {
        guard !words.isEmpty else { return }
        self.text += Self.guarded(Self.escaped(words)) + "\n"
    }

    mutating func bold(_ words: String) {
        self.text += "\\fB\(Self.escaped(words))\\fR\n"
    }

    mutating func verbatim(_ lines: [some StringProtocol]) {
        self.macro("RS", "4")
        self.macro("EX")
        for line in lines { self.text += Self.guarded(Self.escaped(line)) + "\n" }
        self.macro("EE")
        self.macro("RE")
    }

    /// A section of words and their meanings; none where there are none.
    mutating func section(_ title: String, _ entries: [(String, String)]) {
        guard !entries.isEmpty else { return }
        self.macro("SH", title)
        for (label, meaning) in entries {
            self.macro("TP")
            self.bold(label)
            self.line(meaning)
        }
    }

    /// The page of a topic: paragraphs, and indented lines that stay as they are.
    mutating func page(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for paragraph in lines.split(whereSeparator: \.isEmpty) {
            self.macro("PP")
            var rest = paragraph[...]
            while let first = rest.first {
                let isIndented = first.hasPrefix(" ")
                let block = rest.prefix { $0.hasPrefix(" ") == isIndented }
                rest = rest.dropFirst(block.count)
                if isIndented {
                    let margin = block.map { $0.prefix { $0 == " " }.count }.min() ?? 0
                    self.verbatim(block.map { $0.dropFirst(margin) })
                } else {
                    for line in block { self.line(String(line)) }
                }
            }
        }
    }

    /// What roff gives a meaning, as itself; what is not ASCII by its code point, so that no locale changes it.
    private static func escaped(_ text: some StringProtocol) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            }
        }
    }

    /// A dot at the start of a line would make it a request.
    private static func guarded(_ line: String) -> String { line.hasPrefix(".") ? "\\&" + line : line }
}
