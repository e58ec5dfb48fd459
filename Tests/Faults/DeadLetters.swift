/// Dead letters. One that the scenario does not expect is a failure.
package struct DeadLetters: Sendable {
    package struct Letter: Sendable {
        package var number: Int?
        package var reason: String

        package init(number: Int?, reason: String) {
            self.number = number
            self.reason = reason
        }
    }

    package var letters: [Letter]

    package init(_ letters: [Letter] = []) { self.letters = letters }

    package func count(of number: Int) -> Int { self.letters.count { $0.number == number } }

    /// Describes unexpected dead letters, and expected ones that are missing.
    ///
    /// - Parameters:
    ///   - numbers: the messages that have to be dead letters.
    ///   - withoutNumber: the expected count of dead letters without a number.
    package func problems(expecting numbers: Set<Int>, withoutNumber: Int) -> [String] {
        var problems: [String] = []
        var (left, unnumbered) = (numbers, 0)
        for letter in self.letters {
            guard let number = letter.number else {
                unnumbered += 1
                continue
            }
            if left.remove(number) == nil { problems.append("message \(number) was given up on: \(letter.reason)") }
        }
        // A few examples are enough.
        if problems.count > 5 { problems[5...] = ["\(problems.count - 5) more messages were given up on"] }
        for number in left.sorted() { problems.append("message \(number) is no dead letter") }
        if unnumbered != withoutNumber {
            problems.append("\(unnumbered) dead letters without a number, where \(withoutNumber) are to be")
        }
        return problems
    }
}
