struct Figure {
    /// The upper median; NaN without a measurement.
    var median: Double
    var minimum: Double
    var maximum: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        self.median = sorted.isEmpty ? .nan : sorted[sorted.count / 2]
        self.minimum = sorted.first ?? .nan
        self.maximum = sorted.last ?? .nan
    }

    /// The ratio of the two medians.
    static func / (left: Figure, right: Figure) -> Double { left.median / right.median }

    /// The share of one of `count` operations.
    static func / (whole: Figure, count: Int) -> Figure {
        Figure([whole.minimum, whole.median, whole.maximum].map { $0 / Double(count) })
    }
}
