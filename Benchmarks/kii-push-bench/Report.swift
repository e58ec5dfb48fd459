/// All results of a run: the rows with a target or a ratio, and every contender of every comparison.
struct Report {
    private var table = Table(["what", "ours", "against", "ratio", "target", "verdict"])
    /// The first questions of a developer who embeds the library, with the answers.
    private(set) var headlines = Table(["what", "here", "beside"])
    private(set) var comparisons: [Comparison] = []
    private(set) var plotted: [Comparison] = []
    /// Number of missed targets.
    private(set) var short = 0
    /// Sections that failed, and the reasons.
    private(set) var failures: [String] = []

    /// Adds a row with a target. `reached` is `nil` if the row is only reported. A row with a `headline` also goes into
    /// the short table for users, under this name.
    mutating func add(
        _ what: String,
        ours: String,
        against: String = "",
        ratio: String = "",
        target: String = "",
        reached: Bool? = nil,
        headline: String? = nil
    ) {
        if let headline { self.addHeadline(headline, ours: ours, against: against) }
        if reached == false { self.short += 1 }
        let verdict = reached.map { $0 ? "reached" : "SHORT" } ?? ""
        self.table.add([what, ours, against, ratio, target, verdict])
    }

    mutating func addHeadline(_ what: String, ours: String, against: String = "") {
        self.headlines.add([what, ours, against])
    }

    /// Runs the contenders in turn, and keeps their results for a table.
    ///
    /// - Parameters:
    ///   - operation: the repeated operation, such as `message`.
    ///   - isPlotted: whether the plot shows the comparison.
    mutating func compare(
        _ title: String,
        operation: String = "message",
        isPlotted: Bool = false,
        _ contenders: [Contender],
        repetitions: Int
    ) throws -> Results {
        let results = try interleaved(contenders, repetitions: repetitions)
        let comparison = Comparison(
            title: title,
            operation: operation,
            contenders: contenders.map { ($0.name, $0.count) },
            results: results
        )
        self.comparisons.append(comparison)
        if isPlotted { self.plotted.append(comparison) }
        return results
    }

    mutating func fail(_ section: Section, with error: any Error) {
        self.failures.append("\(section.rawValue): \(error)")
    }

    var text: String {
        var parts = ["### Targets and ratios", self.table.text, self.verdict]
        if !self.comparisons.isEmpty { parts.append("### Contenders") }
        for comparison in self.comparisons { parts += ["#### \(comparison.title)", comparison.table.text] }
        return parts.joined(separator: "\n\n")
    }

    private var verdict: String {
        let failed = self.failures.map { "Not measured to the end: \($0)" }
        let everything = failed.isEmpty ? "Every target is reached." : "Every target that was measured is reached."
        return (failed + [self.short == 0 ? everything : "\(self.short) targets are not reached."])
            .joined(separator: "\n\n")
    }
}
