import Glibc

/// The growth of a cost with a number: a row of the report for each number.
struct GrowthTable {
    private let what: String
    /// The numbers in rising order, each with its name in the report and with the cost of one item.
    private var costs: [(number: Double, name: String, cost: Figure)] = []

    init(_ what: String) { self.what = what }

    mutating func add(_ number: Int, named name: String, cost: Figure) {
        self.costs.append((Double(number), name, cost))
    }

    /// Adds one row for each number. If the cost of one item is constant, the whole grows linearly; caches and trees
    /// add a little.
    ///
    /// - Parameters:
    ///   - limit: the largest allowed growth of the cost of one item for ten times as many items.
    ///   - shown: formats a cost.
    func print(into report: inout Report, limit: Double = 1.5, shown: (Figure) -> String = { Shown.microseconds($0) }) {
        guard let first = self.costs.first else { return }
        report.add("\(self.what): \(first.name)", ours: shown(first.cost))
        for (before, now) in zip(self.costs, self.costs.dropFirst()) {
            let decades = log10(now.number / before.number)
            let ratio = pow(now.cost / before.cost, 1 / decades)
            report.add(
                "  \(now.name)",
                ours: shown(now.cost),
                against: "\(before.name) \(shown(before.cost))",
                ratio: "\(Shown.ratio(ratio)) per 10x",
                target: "linear in all (<= \(Shown.decimals(limit, 1))x per 10x each)",
                reached: ratio <= limit
            )
        }
    }
}
