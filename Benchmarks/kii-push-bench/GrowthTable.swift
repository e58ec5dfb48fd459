import Glibc

/// How the cost of one thing grows with the number of another: a row of the report for each number.
struct GrowthTable {
    /// What costs.
    private let what: String
    /// The numbers in rising order, how the report shows them, and what one costs at each.
    private var costs: [(number: Double, name: String, cost: Figure)] = []

    init(_ what: String) { self.what = what }

    mutating func add(_ number: Int, named name: String, cost: Figure) {
        self.costs.append((Double(number), name, cost))
    }

    /// One row for each number. With constant cost of each the whole grows linearly; a little more is what caches and trees
    /// take.
    ///
    /// - Parameters:
    ///   - limit: the most that the cost of one may grow for ten times as many.
    ///   - shown: a cost as text.
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
