/// What several runs gave for one quantity: the middle of it, and how far it spread.
struct Figure {
    /// The middle value; of an even number, the upper of the two. Not a number where nothing was measured.
    var median: Double
    var minimum: Double
    var maximum: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        self.median = sorted.isEmpty ? .nan : sorted[sorted.count / 2]
        self.minimum = sorted.first ?? .nan
        self.maximum = sorted.last ?? .nan
    }

    /// How large one is beside the other, by their medians.
    static func / (left: Figure, right: Figure) -> Double { left.median / right.median }

    /// The part of it that one of `count` has.
    static func / (whole: Figure, count: Int) -> Figure {
        Figure([whole.minimum, whole.median, whole.maximum].map { $0 / Double(count) })
    }
}
