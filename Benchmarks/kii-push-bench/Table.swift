/// The one table: what was measured, against what, and whether the architecture's target was reached.
struct Table {
    private struct Row {
        var cells: [String]
    }

    private var rows: [Row] = []
    private(set) var short = 0

    /// A measurement with a target; `reached` is `nil` for one that is reported only.
    mutating func add(
        _ what: String,
        ours: String,
        against: String = "",
        ratio: String = "",
        target: String = "",
        reached: Bool? = nil
    ) {
        if reached == false { self.short += 1 }
        let verdict = reached.map { $0 ? "reached" : "SHORT" } ?? ""
        self.rows.append(Row(cells: [what, ours, against, ratio, target, verdict]))
    }

    func printed() -> String {
        let rows = [Row(cells: ["what", "ours", "against", "ratio", "target", "verdict"])] + self.rows
        let widths = (0..<6).map { column in rows.map { $0.cells[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            zip(row.cells, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: " | ")
        }
        let rule = widths.map { String(repeating: "-", count: $0) }.joined(separator: "-|-")
        return ([lines[0], rule] + lines.dropFirst()).map { "| \($0) |" }.joined(separator: "\n")
    }
}

/// Numbers as the table shows them.
enum Shown {
    static func decimals(_ value: Double, _ places: Int) -> String {
        let scale = (0..<places).reduce(1.0) { result, _ in result * 10 }
        let scaled = (value * scale).rounded()
        guard scaled.magnitude < 1e15 else { return "\(value)" }
        let whole = Int(scaled.magnitude)
        let sign = scaled < 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(whole)" }
        let fraction = "\(whole % Int(scale))"
        return "\(sign)\(whole / Int(scale))." + String(repeating: "0", count: places - fraction.count) + fraction
    }

    static func rate(_ perSecond: Double) -> String {
        perSecond >= 1e6
            ? "\(self.decimals(perSecond / 1e6, 2)) M/s" : "\(self.decimals(perSecond / 1e3, 1)) k/s"
    }

    static func ratio(_ value: Double) -> String { "\(self.decimals(value, value < 10 ? 2 : 1))x" }

    static func microseconds(_ seconds: Double) -> String { "\(self.decimals(seconds * 1e6, 2)) us" }

    static func milliseconds(_ seconds: Double) -> String { "\(self.decimals(seconds * 1e3, 1)) ms" }

    static func megabytes(_ bytes: Double) -> String { "\(self.decimals(bytes / 1_048_576, 1)) MiB" }
}
