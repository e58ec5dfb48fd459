import Faults
import Testing

/// A dead letter is a failure unless the scenario expects it.
@Suite struct DeadLettersTests {
    private func letters(_ numbers: Int?...) -> DeadLetters {
        DeadLetters(numbers.map { .init(number: $0, reason: "crashed") })
    }

    @Test func theExpectedOnesAreNoProblem() {
        #expect(self.letters().problems(expecting: [], withoutNumber: 0) == [])
        #expect(self.letters(7, nil, nil).problems(expecting: [7], withoutNumber: 2) == [])
    }

    @Test func anyOtherIsAProblem() {
        #expect(
            self.letters(7, 8).problems(expecting: [7], withoutNumber: 0) == ["message 8 was given up on: crashed"])
        // A second dead letter with number 7 is another message.
        #expect(self.letters(7, 7).problems(expecting: [7], withoutNumber: 0).count == 1)
        #expect(self.letters().problems(expecting: [7], withoutNumber: 0) == ["message 7 is no dead letter"])
        #expect(self.letters(nil).problems(expecting: [], withoutNumber: 0).count == 1)
        #expect(self.letters().problems(expecting: [], withoutNumber: 1).count == 1)
    }

    @Test func manyAreSaidInFew() {
        let letters = DeadLetters((1...1000).map { .init(number: $0, reason: "crashed") })
        let problems = letters.problems(expecting: [], withoutNumber: 0)
        #expect(problems.count == 6)
        #expect(problems.last == "995 more messages were given up on")
    }
}
