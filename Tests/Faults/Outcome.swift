/// The result of one scenario: a row of the table.
package struct Outcome: Sendable {
    package var scenario: String
    package var receiver: String
    /// Number of messages that the broker acknowledged to their sender.
    package var messages: Int
    package var faults: String
    /// Messages neither handled nor kept as dead letters, although the receiver acknowledged them or the broker was
    /// never killed.
    package var lost = 0
    /// Messages that the receiver never acknowledged, lost with a killed broker.
    package var lostByBroker = 0
    /// Number of repeated handlings, by cause.
    package var duplicates: [DuplicateCause: Int] = [:]
    package var deadLetters = 0
    package var duration: Duration = .zero
    /// Other expectations of the scenario that failed.
    package var problems: [String] = []
    /// Whether the scenario has to lose messages, which shows that losses are detected.
    package var hasToLose = false

    package init(scenario: String, receiver: String, messages: Int, faults: String) {
        self.scenario = scenario
        self.receiver = receiver
        self.messages = messages
        self.faults = faults
    }

    /// The broken promises; empty if there are none.
    package var failures: [String] {
        if self.lost > 0, !self.hasToLose { return ["\(self.lost) lost"] + self.problems }
        if self.lost == 0, self.hasToLose { return ["nothing was lost, and had to be"] + self.problems }
        return self.problems
    }
}

package enum DuplicateCause: String, Sendable, Hashable, CaseIterable {
    /// The process ended after the work, and before the answer was stored.
    case answerNotStored = "answer not stored"
    /// The second delivery had no DUP, so nobody could tell that it is the same message.
    case withoutDUP = "came without DUP"
    /// A redelivery with another packet identifier.
    case renumbered = "renumbered"
    /// A redelivery with the same packet identifier.
    case redelivered = "redelivered"
}
