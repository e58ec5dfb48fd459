/// The slot in the scheduler and in the ``AnswerBox``, and a number that no other call has.
package struct CallID: Sendable, Hashable {
    package var slot: Int
    package var number: Int
}

/// What a worker takes: messages of one source, to be handed over one after the other.
package struct DeliveryCall: Sendable {
    package let id: CallID
    package let installation: Int64
    package let messages: [QueuedMessage]
    var attachment: DeliveryAttachment?
}

/// A call that was handed out, until it has returned and its attempt is over.
struct CallRecord: Sendable {
    let id: CallID
    let place: Int
    var messages: [QueuedMessage]
    let isAlone: Bool
    /// The message whose attempt is under way or over; -1 before the first.
    var position = -1
    /// When that attempt began; before the first, when the call was handed out.
    var startedAt: MonotonicInstant
    var isOver = false
    /// When the attempt had its verdict, or when it was last looked at what its worker does since.
    var answeredAt: MonotonicInstant?
    /// The handler has returned, and the answer is still to come.
    var hasReturned = false
    var isCut = false
    /// It has lost its place to a fresh thread.
    var isStuck = false
    /// It keeps its place however long it takes: no more threads are given up.
    var keepsPlace = false

    var isCuttable: Bool { !self.isCut && self.position + 1 < self.messages.count }

    /// Its worker may be at a message of which the scheduler does not know.
    var mayGoOn: Bool { self.isOver && self.isCuttable }

    var current: QueuedMessage? { self.position < 0 ? nil : self.messages[self.position] }

    /// Notes the answer to the message at `position`, whose attempt may not have been known of; `nil` if none is waited for
    /// there. All in one look at the record: this is done for each message.
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
    /// When an attempt is over without an answer.
    func deadline(of message: QueuedMessage, startedAt: MonotonicInstant) -> MonotonicInstant {
        let whole = startedAt + self.deadline
        let own = message.answerBy.map { min(whole, $0) } ?? whole
        guard let totalLimit, let first = message.firstStart else { return own }
        return min(own, first + totalLimit)
    }
}
