/// What came out of one scenario: one row of the table.
package struct Outcome: Sendable {
    package var scenario: String
    package var receiver: String
    /// Messages that the broker had acknowledged to their sender.
    package var messages: Int
    /// What was done, in words.
    package var faults: String
    /// Neither handled nor kept as a dead letter, though the receiver had it, or nothing happened to the broker.
    package var lost = 0
    /// Never acknowledged by the receiver, and gone with a broker that was killed.
    package var lostByBroker = 0
    /// How often a message was handled that had been handled before, by cause.
    package var duplicates: [DuplicateCause: Int] = [:]
    package var deadLetters = 0
    package var duration: Duration = .zero
    /// What else the scenario asked for and did not get.
    package var problems: [String] = []
    /// Whether it shows that a loss is seen.
    package var hasToLose = false

    package init(scenario: String, receiver: String, messages: Int, faults: String) {
        self.scenario = scenario
        self.receiver = receiver
        self.messages = messages
        self.faults = faults
    }

    /// What is not as promised; empty when everything is.
    package var failures: [String] {
        if self.lost > 0, !self.hasToLose { return ["\(self.lost) lost"] + self.problems }
        if self.lost == 0, self.hasToLose { return ["nothing was lost, and had to be"] + self.problems }
        return self.problems
    }
}

/// Why a message was handled more than once.
package enum DuplicateCause: String, Sendable, Hashable, CaseIterable {
    /// The process ended between the work and the storing of its answer.
    case answerNotStored = "answer not stored"
    /// Two messages as far as anyone can tell: the second one came without DUP.
    case withoutDUP = "came without DUP"
    /// A redelivery under another packet identifier.
    case renumbered = "renumbered"
    /// A redelivery that was handled again.
    case redelivered = "redelivered"
}
