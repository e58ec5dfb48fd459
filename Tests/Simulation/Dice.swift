import SeededNumbers

/// Random numbers from a seed and from labels for their purpose. If one part of a history is left out, the other parts
/// keep their numbers.
struct Dice: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(_ seed: UInt64, _ labels: UInt64...) {
        var mixer = SeededGenerator(seed: seed)
        for label in labels { mixer = SeededGenerator(seed: mixer.next() ^ (label &* 0xD6E8_FEB8_6659_FD93)) }
        self.generator = mixer
    }

    mutating func next() -> UInt64 { self.generator.next() }

    mutating func percent(_ chance: Int) -> Bool { Int.random(in: 0..<100, using: &self) < chance }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .microseconds(self.number(range.lowerBound * 1000...range.upperBound * 1000))
    }

    mutating func pick<Element>(_ choices: [(weight: Int, element: Element)]) -> Element {
        var left = self.number(0...choices.reduce(0) { $0 + $1.weight } - 1)
        for (weight, element) in choices {
            if left < weight { return element }
            left -= weight
        }
        return choices[choices.count - 1].element
    }
}
