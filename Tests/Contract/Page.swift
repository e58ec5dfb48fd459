/// A page of `Documentation` that is generated from the contract.
package struct Page: Sendable {
    package var name: String
    package var text: @Sendable (Contract) -> String

    package static let all = [
        Page(name: "rest-api.md") { $0.referencePage },
        Page(name: "coverage.md") { $0.coveragePage },
    ]

    static let notice = "<!-- Made from Documentation/contract by script/contract; changes belong there. -->"
}

struct MarkdownTable {
    private var lines: [String]

    init(_ headings: String...) {
        self.lines = ["| \(headings.joined(separator: " | ")) |", "|\(headings.map { _ in "---|" }.joined())"]
    }

    mutating func add(_ cells: String...) {
        let escaped = cells.map { $0.replacing("|", with: "\\|") }
        self.lines.append("| \(escaped.joined(separator: " | ")) |")
    }

    var text: String { self.lines.joined(separator: "\n") + "\n" }
}

extension Contract {
    /// A link target as Markdown viewers make it from a heading.
    static func anchor(_ heading: String) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
            .replacing(" ", with: "-")
    }
}
