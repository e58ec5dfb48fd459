/// A fleet that loses its broker at one moment: the peak of reconnections and the time until they end, beside a fleet
/// with a fixed delay.
enum FleetSection {
    /// The allowed share of the other fleet's peak, and the allowed time until most clients have reconnected.
    private static let allowedShare = 0.2
    private static let allowedTime: Duration = .seconds(180)

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let fleet = FleetReport()
        for run in fleet.runs {
            let share = Double(run.ours.peak) / Double(run.fixed.peak)
            report.add(
                "fleet of 100,000, broker away for \(run.outage.components.seconds) s: peak connects",
                ours: "\(run.ours.peak)/s",
                against: "fixed 10 s delay \(run.fixed.peak)/s",
                ratio: Shown.ratio(share),
                target: "<= 0.2x",
                reached: share <= self.allowedShare
            )
            report.add(
                "  95 % of it back after",
                ours: "\(Shown.decimals(run.ours.until95 / .seconds(1), 1)) s",
                against: "fixed 10 s delay \(Shown.decimals(run.fixed.until95 / .seconds(1), 1)) s",
                target: "<= 180 s",
                reached: run.ours.until95 <= self.allowedTime
            )
        }
        let plot = "\(bench.folder)/fleet.svg"
        let figures = "\(bench.folder)/fleet.md"
        try TextFile.write(fleet.plot, to: plot)
        try TextFile.write(fleet.summary + "\n" + fleet.overTime, to: figures)
        print("the fleet second by second: \(plot), \(figures)")
    }

    /// `kii-push-bench fleet FOLDER`: writes the plot and the figures into the documentation's page.
    static func command(_ arguments: [String]) throws {
        guard arguments.count == 1 else { throw ChildProcess.Failure(description: "usage: fleet FOLDER") }
        let page = MarkedPage(
            path: "\(arguments[0])/connection.md",
            begin: "<!-- the simulation: script/bench document -->",
            end: "<!-- end of the simulation -->"
        )
        let fleet = FleetReport()
        try TextFile.write(fleet.plot, to: "\(arguments[0])/fleet.svg")
        try page.replace(
            with: "![Connects per second over time](fleet.svg)\n\n\(fleet.summary)\n\(fleet.overTime)")
        print("written: \(page.path), \(arguments[0])/fleet.svg")
    }
}
