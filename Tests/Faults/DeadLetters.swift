/// Messages that were given up on. Each that a scenario does not expect is a failure: it was good.
package struct DeadLetters: Sendable {
    package struct Letter: Sendable {
        /// The number in the payload, where it has one.
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

    /// What is there beside the expected ones, and what of them is not.
    ///
    /// - Parameters:
    ///   - numbers: of messages that have to be dead letters.
    ///   - withoutNumber: how many have none.
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
        // One tells as much as a thousand.
        if problems.count > 5 { problems[5...] = ["\(problems.count - 5) more messages were given up on"] }
        for number in left.sorted() { problems.append("message \(number) is no dead letter") }
        if unnumbered != withoutNumber {
            problems.append("\(unnumbered) dead letters without a number, where \(withoutNumber) are to be")
        }
        return problems
    }
}
