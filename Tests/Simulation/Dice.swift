import SeededNumbers

/// Random numbers that follow from a seed and from what they are for, so that leaving out one part of a history leaves the
/// others as they are.
struct Dice: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(_ seed: UInt64, _ labels: UInt64...) {
        var mixer = SeededGenerator(seed: seed)
        for label in labels { mixer = SeededGenerator(seed: mixer.next() ^ (label &* 0xD6E8_FEB8_6659_FD93)) }
        self.generator = mixer
    }

    mutating func next() -> UInt64 { self.generator.next() }

    /// Whether something happens that happens so many times in a hundred.
    mutating func percent(_ chance: Int) -> Bool { Int.random(in: 0..<100, using: &self) < chance }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// A time within a range of milliseconds, to the microsecond.
    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .microseconds(self.number(range.lowerBound * 1000...range.upperBound * 1000))
    }

    /// One of these, each as often as its weight says.
    mutating func pick<Element>(_ choices: [(weight: Int, element: Element)]) -> Element {
        var left = self.number(0...choices.reduce(0) { $0 + $1.weight } - 1)
        for (weight, element) in choices {
            if left < weight { return element }
            left -= weight
        }
        return choices[choices.count - 1].element
    }
}
