enum Shown {
    /// The median and, for more than one run, the minimum and the maximum in the same unit: `226.1 (198.0–241.3)`.
    /// Empty without a measurement.
    static func spread(_ figure: Figure, scale: Double, places: Int, unit: String = "") -> String {
        guard figure.median.isFinite else { return "" }
        let parts = [figure.median, figure.minimum, figure.maximum].map { self.decimals($0 * scale, places) }
        let name = unit.isEmpty ? "" : " \(unit)"
        let isOneRun = figure.minimum == figure.maximum
        return isOneRun ? "\(parts[0])\(name)" : "\(parts[0])\(name) (\(parts[1])–\(parts[2]))"
    }

    static func rate(_ perSecond: Figure) -> String {
        perSecond.median >= 1e6
            ? self.spread(perSecond, scale: 1e-6, places: 2, unit: "M/s")
            : self.spread(perSecond, scale: 1e-3, places: 1, unit: "k/s")
    }

    static func nanoseconds(_ seconds: Figure) -> String { self.spread(seconds, scale: 1e9, places: 0, unit: "ns") }

    static func microseconds(_ seconds: Figure, unit: String = "us") -> String {
        self.spread(seconds, scale: 1e6, places: seconds.median < 1e-6 ? 3 : 2, unit: unit)
    }

    static func milliseconds(_ seconds: Figure) -> String { self.spread(seconds, scale: 1e3, places: 1, unit: "ms") }

    static func megabytes(_ bytes: Figure) -> String {
        self.spread(bytes, scale: 1 / 1_048_576, places: 1, unit: "MiB")
    }

    static func ratio(_ value: Double) -> String { "\(self.decimals(value, value < 10 ? 2 : 1))x" }

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
}
