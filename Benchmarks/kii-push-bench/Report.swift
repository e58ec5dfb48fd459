/// Everything that was measured: what has a target or a ratio, and every contender of every comparison.
struct Report {
    private var table = Table(["what", "ours", "against", "ratio", "target", "verdict"])
    /// What an embedding program asks first, in its words.
    private(set) var headlines = Table(["what", "here", "beside"])
    private(set) var comparisons: [Comparison] = []
    /// The comparisons that the plot shows.
    private(set) var plotted: [Comparison] = []
    /// Targets that were not reached.
    private(set) var short = 0
    /// Sections that could not be measured to their end, and why.
    private(set) var failures: [String] = []

    /// A measurement with a target; `reached` is `nil` for one that is reported only. A row with a `headline` also stands,
    /// under that name, in the short table for users.
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

    /// A row of the short table for users.
    mutating func addHeadline(_ what: String, ours: String, against: String = "") {
        self.headlines.add([what, ours, against])
    }

    /// Runs the contenders in turn, and keeps what each of them took for a table of its own.
    ///
    /// - Parameters:
    ///   - operation: what a contender does many times, such as `message`.
    ///   - isPlotted: whether the plot shows it.
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

    /// The tables and the verdict, in Markdown.
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
