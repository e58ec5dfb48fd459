import Glibc

/// An SVG of the messages a second of each contender, with a panel for each comparison and one logarithmic scale.
struct ReceivePlot {
    private static let left = 150.0
    private static let width = 590.0
    private static let row = 22.0
    private static let ourColour = "#1f5fa8"
    private static let otherColour = "#d95f02"

    private let comparisons: [Comparison]
    /// The powers of ten at the two ends of the scale.
    private let decades: ClosedRange<Int>

    init(_ comparisons: [Comparison]) {
        self.comparisons = comparisons
        let rates = comparisons.flatMap { comparison in
            comparison.contenders.map { comparison.results[$0.name, "rate"] }
        }
        let least = log10(rates.map(\.minimum).min() ?? 1)
        let most = log10(rates.map(\.maximum).max() ?? 1)
        self.decades = Int(least.rounded(.down))...Int(max(most.rounded(.up), least.rounded(.down) + 1))
    }

    var svg: String {
        var elements = [
            SVG.text(
                "Messages a second that a receiver takes (logarithmic)", 20, 26,
                "font-size=\"17\" font-weight=\"bold\""),
            SVG.text("bars: medians; black lines: from the slowest run to the fastest", 20, 47),
        ]
        var top = 80.0
        for comparison in self.comparisons {
            elements += self.panel(comparison, top: top)
            top += Double(comparison.contenders.count) * Self.row + 68
        }
        return SVG.page(height: Int(top) - 20, elements)
    }

    private func panel(_ comparison: Comparison, top: Double) -> [String] {
        let ceiling = top + 12
        let bottom = ceiling + Double(comparison.contenders.count) * Self.row
        var elements = [SVG.text(comparison.title, 20, top, "font-weight=\"bold\"")]
        for decade in self.decades {
            let value = pow(10, Double(decade))
            elements.append(SVG.line(self.x(value), ceiling, self.x(value), bottom, "#cccccc"))
            elements.append(SVG.text(Self.label(value), self.x(value), bottom + 17, "text-anchor=\"middle\""))
        }
        for (index, contender) in comparison.contenders.enumerated() {
            let rate = comparison.results[contender.name, "rate"]
            elements += self.bar(contender.name, rate, top: ceiling + Double(index) * Self.row)
        }
        return elements
    }

    private func bar(_ name: String, _ rate: Figure, top: Double) -> [String] {
        let colour = name == ReceiveSection.ours ? Self.ourColour : Self.otherColour
        let middle = top + Self.row / 2
        return [
            SVG.text(name, Self.left - 8, middle + 4, "text-anchor=\"end\""),
            SVG.rectangle(Self.left, top + 3, self.x(rate.median) - Self.left, Self.row - 6, colour),
            SVG.line(self.x(rate.minimum), middle, self.x(rate.maximum), middle, "black"),
            SVG.text(Shown.rate(rate), self.x(rate.maximum) + 8, middle + 4),
        ]
    }

    private func x(_ rate: Double) -> Double {
        let (first, last) = (Double(self.decades.lowerBound), Double(self.decades.upperBound))
        return Self.left + (log10(rate) - first) / (last - first) * Self.width
    }

    private static func label(_ rate: Double) -> String {
        rate >= 1e6 ? "\(Int(rate / 1e6)) M/s" : rate >= 1e3 ? "\(Int(rate / 1e3)) k/s" : "\(Int(rate))/s"
    }
}
