import Glibc

extension FleetReport {
    /// An SVG of the arrivals at the broker over time, with a panel for each outage.
    var plot: String {
        let panels = self.runs.enumerated().map { index, run in
            FleetPanel(run: run, top: 70 + index * 230).svg
        }
        let title = "A fleet of 100,000 loses its broker at once: connects per second at the broker (logarithmic)"
        let legend = [
            SVG.text(title, 70, 26, "font-size=\"17\" font-weight=\"bold\""),
            SVG.rectangle(70, 40, 14, 12, FleetPanel.fixedColour),
            SVG.text("every client after a fixed 10 s", 90, 51),
            SVG.rectangle(310, 40, 14, 12, FleetPanel.ourColour),
            SVG.text("agents of this project", 330, 51),
            SVG.rectangle(520, 40, 14, 12, FleetPanel.outageColour),
            SVG.text("the broker is away", 540, 51),
        ]
        return SVG.page(height: 770, legend + panels)
    }
}

/// The panel of one outage. The counts have a logarithmic scale from 1 to 100,000.
private struct FleetPanel {
    static let fixedColour = "#d95f02"
    static let ourColour = "#1f5fa8"
    static let outageColour = "#e4e4e4"

    private static let left = 70.0
    private static let width = 860.0
    private static let height = 160.0
    private static let decades = 5

    let run: FleetReport.Run
    let top: Int

    var svg: String {
        let away = self.x(Double(self.run.outage.components.seconds))
        let title = "the broker is away for \(self.run.outage.components.seconds) s"
        var lines = [
            SVG.text(title, Self.left, Double(self.top + 14), "font-weight=\"bold\""),
            SVG.rectangle(Self.left, self.ceiling, away - Self.left, Self.height, Self.outageColour),
        ]
        for decade in 0...Self.decades {
            let y = self.y(Self.power(decade))
            lines.append(SVG.line(Self.left, y, Self.left + Self.width, y, "#cccccc"))
            lines.append(SVG.text(Self.label(decade), 62, y + 4, "text-anchor=\"end\""))
        }
        let step = self.run.seconds > 300 ? 60 : 30
        for second in stride(from: 0, through: self.run.seconds, by: step) {
            let x = self.x(Double(second))
            lines.append(SVG.line(x, self.bottom, x, self.bottom + 5, "#555555"))
            lines.append(SVG.text("\(second) s", x, self.bottom + 20, "text-anchor=\"middle\""))
        }
        lines.append(self.bars(self.run.fixed, Self.fixedColour, inset: 0))
        lines.append(self.bars(self.run.ours, Self.ourColour, inset: 0.22))
        return lines.joined(separator: "\n")
    }

    private var ceiling: Double { Double(self.top + 24) }
    private var bottom: Double { self.ceiling + Self.height }

    private func bars(_ outcome: FleetSimulation.Outcome, _ colour: String, inset: Double) -> String {
        var path = ""
        for (second, count) in outcome.arrivals.prefix(self.run.seconds).enumerated() where count > 0 {
            let left = SVG.number(self.x(Double(second) + inset))
            let right = SVG.number(self.x(Double(second + 1) - inset))
            // The logarithm of one arrival is zero, so every bar has a minimum height.
            let top = SVG.number(min(self.y(Double(count)), self.bottom - 2))
            path += "M\(left) \(SVG.number(self.bottom))V\(top)H\(right)V\(SVG.number(self.bottom))z"
        }
        return SVG.path(path, "fill=\"\(colour)\"")
    }

    private func x(_ second: Double) -> Double { Self.left + second / Double(self.run.seconds) * Self.width }

    private func y(_ count: Double) -> Double {
        self.bottom - log10(count) / Double(Self.decades) * Self.height
    }

    private static func label(_ decade: Int) -> String {
        ["1", "10", "100", "1,000", "10,000", "100,000"][decade]
    }

    private static func power(_ decade: Int) -> Double { (0..<decade).reduce(1.0) { result, _ in result * 10 } }
}
