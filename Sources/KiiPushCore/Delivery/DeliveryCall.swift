/// The call's slot in the scheduler and in the ``AnswerBox``, and a number that no other call has.
package struct CallID: Sendable, Hashable {
    package var slot: Int
    package var number: Int
}

/// The work of one worker: messages of one source, delivered one after the other.
package struct DeliveryCall: Sendable {
    package let id: CallID
    package let installation: Int64
    package let messages: [QueuedMessage]
    var attachment: DeliveryAttachment?
}

/// The scheduler's record of a call, kept until the call has returned and its attempt is over.
struct CallRecord: Sendable {
    let id: CallID
    let place: Int
    var messages: [QueuedMessage]
    let isAlone: Bool
    /// The index of the message whose attempt runs or is over; -1 before the first attempt.
    var position = -1
    /// When that attempt began; before the first attempt, when the scheduler handed out the call.
    var startedAt: MonotonicInstant
    var isOver = false
    /// When the attempt had its verdict or, later, when the scheduler last checked how far the worker has come.
    var answeredAt: MonotonicInstant?
    /// The handler has returned without an answer, which may still come.
    var hasReturned = false
    var isCut = false
    /// The call has lost its place to a fresh thread.
    var isStuck = false
    /// The call keeps its place however long it takes: the scheduler gives up no more threads.
    var keepsPlace = false

    var isCuttable: Bool { !self.isCut && self.position + 1 < self.messages.count }

    /// Whether its worker may have begun a message that the scheduler does not know of yet.
    var mayGoOn: Bool { self.isOver && self.isCuttable }

    var current: QueuedMessage? { self.position < 0 ? nil : self.messages[self.position] }

    /// Records the answer to the message at `position`, whose beginning the scheduler may not know yet. Returns `nil`
    /// if the call expects no answer there. It accesses the record only once, since it runs for each message.
    mutating func answered(
        _ id: CallID, position: Int, startedAt: MonotonicInstant, at now: MonotonicInstant
    ) -> (message: QueuedMessage, place: Int, isNew: Bool, hasReturned: Bool)? {
        let isNew = position > self.position
        guard self.id == id, self.messages.indices.contains(position),
            isNew || (position == self.position && !self.isOver)
        else { return nil }
        if isNew {
            self.position = position
            self.startedAt = startedAt
        }
        self.isOver = true
        self.answeredAt = now
        return (self.messages[position], self.place, isNew, self.hasReturned)
    }
}

extension DeliveryConfiguration {
    func deadline(of message: QueuedMessage, startedAt: MonotonicInstant) -> MonotonicInstant {
        let whole = startedAt + self.deadline
        let own = message.answerBy.map { min(whole, $0) } ?? whole
        guard let totalLimit, let first = message.firstStart else { return own }
        return min(own, first + totalLimit)
    }
}
