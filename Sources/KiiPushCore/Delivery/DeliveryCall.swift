/// A later call may have the same `slot`, but never the same `number`.
package struct CallID: Sendable, Hashable {
    package var slot: Int
    package var number: Int
}

/// Messages of one source, which one worker delivers one after the other.
package struct DeliveryCall: Sendable {
    package let id: CallID
    package let installation: Int64
    package let messages: [QueuedMessage]
    var attachment: DeliveryAttachment?
}

struct CallRecord: Sendable {
    let id: CallID
    let place: Int
    var messages: [QueuedMessage]
    let isAlone: Bool
    /// The index of the latest message that has begun; -1 before the first one.
    var position = -1
    /// When the message at `position` began. Before the first message: when the scheduler handed out the call, or last
    /// extended its deadline.
    var startedAt: MonotonicInstant
    var isOver = false
    var answeredAt: MonotonicInstant?
    var hasReturned = false
    var isCut = false
    var isStuck = false
    /// The call is stuck, but delivery may replace no more threads, so the call still occupies a place.
    var keepsPlace = false

    var isCuttable: Bool { !self.isCut && self.position + 1 < self.messages.count }

    var mayHaveBegunNext: Bool { self.isOver && self.isCuttable }

    var current: QueuedMessage? { self.position < 0 ? nil : self.messages[self.position] }

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
