/// A table in Markdown, with columns aligned for reading as plain text.
struct Table {
    private let header: [String]
    private var rows: [[String]] = []

    init(_ header: [String]) { self.header = header }

    /// Adds a row; it must have as many cells as the header.
    mutating func add(_ cells: [String]) { self.rows.append(cells) }

    var text: String {
        let widths = self.header.indices.map { column in
            ([self.header] + self.rows).map { $0[column].count }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            return "| \(padded.joined(separator: " | ")) |"
        }
        let rule = widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|")
        return ([line(self.header), "|\(rule)|"] + self.rows.map(line)).joined(separator: "\n")
    }
}
