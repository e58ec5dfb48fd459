import Glibc

extension FleetReport {
    /// Arrivals at the broker over time, a panel for each outage; an SVG.
    var plot: String {
        let panels = self.runs.enumerated().map { index, run in
            FleetPanel(run: run, top: 70 + index * 230).svg
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 770" font-family="sans-serif" font-size="13">
            <rect width="960" height="770" fill="white"/>
            <text x="70" y="26" font-size="17" font-weight="bold">A fleet of 100,000 loses its broker at once: connects per \
            second at the broker (logarithmic)</text>
            <rect x="70" y="40" width="14" height="12" fill="\(FleetPanel.fixedColour)"/>
            <text x="90" y="51">every client after a fixed 10 s</text>
            <rect x="310" y="40" width="14" height="12" fill="\(FleetPanel.ourColour)"/>
            <text x="330" y="51">agents of this project</text>
            <rect x="520" y="40" width="14" height="12" fill="\(FleetPanel.outageColour)"/>
            <text x="540" y="51">the broker is away</text>
            \(panels.joined(separator: "\n"))
            </svg>

            """
    }
}

/// One outage's part of the plot. Counts are on a logarithmic scale from 1 to 100,000.
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
            "<text x=\"70\" y=\"\(self.top + 14)\" font-weight=\"bold\">\(title)</text>",
            self.rectangle(Self.left, 0, away - Self.left, Self.height, Self.outageColour),
        ]
        for decade in 0...Self.decades {
            let y = self.y(Self.power(decade))
            lines.append(self.line(Self.left, y, Self.left + Self.width, y, "#cccccc"))
            lines.append(
                "<text x=\"62\" y=\"\(Self.text(y + 4))\" text-anchor=\"end\">\(Self.label(decade))</text>")
        }
        let step = self.run.seconds > 300 ? 60 : 30
        for second in stride(from: 0, through: self.run.seconds, by: step) {
            let x = self.x(Double(second))
            lines.append(self.line(x, self.bottom, x, self.bottom + 5, "#555555"))
            lines.append(
                "<text x=\"\(Self.text(x))\" y=\"\(Self.text(self.bottom + 20))\" text-anchor=\"middle\">\(second) s</text>"
            )
        }
        lines.append(self.bars(self.run.fixed, Self.fixedColour, inset: 0))
        lines.append(self.bars(self.run.ours, Self.ourColour, inset: 0.22))
        return lines.joined(separator: "\n")
    }

    private var ceiling: Double { Double(self.top + 24) }
    private var bottom: Double { self.ceiling + Self.height }

    /// One bar for each second with an arrival, in one path.
    private func bars(_ outcome: FleetSimulation.Outcome, _ colour: String, inset: Double) -> String {
        var path = ""
        for (second, count) in outcome.arrivals.prefix(self.run.seconds).enumerated() where count > 0 {
            let left = Self.text(self.x(Double(second) + inset))
            let right = Self.text(self.x(Double(second + 1) - inset))
            // One arrival is seen as well, though its logarithm is zero.
            let top = Self.text(min(self.y(Double(count)), self.bottom - 2))
            path += "M\(left) \(Self.text(self.bottom))V\(top)H\(right)V\(Self.text(self.bottom))z"
        }
        return "<path d=\"\(path)\" fill=\"\(colour)\"/>"
    }

    private func x(_ second: Double) -> Double { Self.left + second / Double(self.run.seconds) * Self.width }

    private func y(_ count: Double) -> Double {
        self.bottom - log10(count) / Double(Self.decades) * Self.height
    }

    private func rectangle(_ x: Double, _ offset: Double, _ width: Double, _ height: Double, _ colour: String) -> String
    {
        "<rect x=\"\(Self.text(x))\" y=\"\(Self.text(self.ceiling + offset))\" width=\"\(Self.text(width))\" "
            + "height=\"\(Self.text(height))\" fill=\"\(colour)\"/>"
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
        "<path d=\"M\(Self.text(x1)) \(Self.text(y1))L\(Self.text(x2)) \(Self.text(y2))\" stroke=\"\(colour)\"/>"
    }

    private static func label(_ decade: Int) -> String {
        ["1", "10", "100", "1,000", "10,000", "100,000"][decade]
    }

    private static func power(_ decade: Int) -> Double { (0..<decade).reduce(1.0) { result, _ in result * 10 } }

    private static func text(_ value: Double) -> String { Shown.decimals(value, 1) }
}
