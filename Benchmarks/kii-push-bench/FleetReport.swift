struct FleetReport {
    struct Run {
        var outage: Duration
        var ours: FleetSimulation.Outcome
        var fixed: FleetSimulation.Outcome

        /// The seconds that the plot shows, until nearly all clients have reconnected.
        var seconds: Int { Int(self.outage.components.seconds) + 180 }
    }

    var runs: [Run]

    init(outages: [Duration] = [.zero, .seconds(30), .seconds(300)]) {
        self.runs = outages.map { outage in
            let fleet = FleetSimulation(outage: outage)
            return Run(outage: outage, ours: fleet.run(.ours), fixed: fleet.run(.fixed(.seconds(10))))
        }
    }

    var summary: String {
        var lines = [
            "| broker away for | peak connects/s, fixed 10 s | peak connects/s, agents | share | "
                + "95 % back after its return, fixed 10 s | 95 % back, agents |",
            "|---|---|---|---|---|---|",
        ]
        for run in self.runs {
            let share = Double(run.ours.peak) / Double(run.fixed.peak) * 100
            let times = [run.fixed, run.ours].map { "\(Shown.decimals($0.until95 / .seconds(1), 1)) s" }
            lines.append(
                "| \(run.outage.components.seconds) s | \(run.fixed.peak) | \(run.ours.peak) | "
                    + "\(Shown.decimals(share, 1)) % | \(times[0]) | \(times[1]) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Arrivals over time: the busiest second of each span, and the share of reconnected clients at the span's end.
    var overTime: String {
        var lines = [
            "| seconds since the loss | "
                + self.runs.map { "\($0.outage.components.seconds) s: fixed | agents | back" }
                .joined(separator: " | ") + " |",
            "|" + String(repeating: "---|", count: 1 + 3 * self.runs.count),
        ]
        for span in self.spans {
            let cells = self.runs.map { run -> String in
                guard span.lowerBound < run.seconds else { return " | | " }
                let back = run.ours.accepted.prefix(span.upperBound).reduce(0, +)
                return "\(Self.peak(run.fixed, span)) | \(Self.peak(run.ours, span)) | "
                    + "\(Shown.decimals(Double(back) / 1000, 1)) %"
            }
            lines.append("| \(span.lowerBound) to \(span.upperBound) | \(cells.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var spans: [Range<Int>] {
        let ends = [1, 5, 10, 11, 20, 30, 45, 60, 90, 120, 180, 240, 300, 315, 330, 360, 390, 420, 480]
        return zip([0] + ends, ends).map { $0..<$1 }
    }

    private static func peak(_ outcome: FleetSimulation.Outcome, _ span: Range<Int>) -> Int {
        outcome.arrivals.dropFirst(span.lowerBound).prefix(span.count).max() ?? 0
    }
}
