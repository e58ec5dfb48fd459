/// A Markdown table, with every column as wide as its widest entry.
package struct MarkdownTable {
    private var rows: [[String]]

    package init(_ titles: [String]) { self.rows = [titles] }

    package mutating func add(_ row: [String]) { self.rows.append(row) }

    package var text: String {
        let widths = self.rows[0].indices.map { column in self.rows.map { $0[column].count }.max() ?? 0 }
        var lines = self.rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
        }
        lines.insert(widths.map { String(repeating: "-", count: $0) }.joined(separator: "-|-"), at: 1)
        return lines.map { "| \($0) |" }.joined(separator: "\n")
    }
}
