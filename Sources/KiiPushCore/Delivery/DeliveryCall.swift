/// What a thread takes to work on: messages of one source, to be handled one after the other.
package struct DeliveryClaim<Message: Deliverable>: Sendable {
    /// Names this claim in what is reported about it.
    package var call: Int
    /// The messages, and which attempt (1, 2, …) each of them is at.
    package var messages: [Message]
    package var attempts: [Int]
    /// When the first message's attempt is over, for ``DeliveryContext``; the others have as long from their start.
    package var deadline: MonotonicInstant
}

/// How far a thread has come with its claim.
package struct DeliveryProgress: Sendable, Hashable {
    /// An answer to the message at `index` of the claim.
    package struct Answer: Sendable, Hashable {
        package var index: Int
        package var verdict: HandlerVerdict

        package init(index: Int, verdict: HandlerVerdict) {
            self.index = index
            self.verdict = verdict
        }
    }

    /// The answers since the last report, in order.
    package var answers: [Answer]
    /// The message whose call is running, or was the last to start.
    package var position: Int
    /// When that call started.
    package var startedAt: MonotonicInstant
    /// Whether that message is being shown to the user, so that no handler was called with it yet.
    package var isPresenting: Bool

    package init(
        answers: [Answer], position: Int, startedAt: MonotonicInstant, isPresenting: Bool = false
    ) {
        self.answers = answers
        self.position = position
        self.startedAt = startedAt
        self.isPresenting = isPresenting
    }
}

/// A claim that holds one of the places: until the call has returned and the attempt is over.
struct DeliveryCall<Message: Deliverable>: Sendable {
    let source: Int
    var entries: [DeliveryEntry<Message>]
    /// The message whose attempt is under way or over.
    var position = 0
    var startedAt: MonotonicInstant
    /// The attempt at `position` has its verdict.
    var isOver = false
    /// No handler was called with the message at `position` yet: it is being shown to the user.
    var isPresenting = false
    /// The handler has returned, and the answer is still to come.
    var hasReturned = false
    /// It keeps its place however long it takes: no more fresh threads are given up to calls like it.
    var keepsPlace = false
    /// It took longer than messages of one claim may take together.
    var isSlow = false
    let isAlone: Bool

    var current: DeliveryEntry<Message> { self.entries[self.position] }

    func deadline(_ configuration: DeliveryConfiguration) -> MonotonicInstant {
        let whole = self.startedAt + configuration.deadline
        let own = self.current.message.answerBy.map { min(whole, $0) } ?? whole
        guard let limit = configuration.totalLimit, let first = self.current.firstStart else { return own }
        return min(own, first + limit)
    }
}

/// The message that runs alone because it may be what ended an earlier process.
enum AloneRun<Message: Deliverable>: Sendable {
    /// Nothing runs alone. Exits: `committing`, when a suspect waits and no call holds a place.
    case none
    /// The attempt is being recorded. Exits: `ready`, when it is durable.
    case committing(DeliveryEntry<Message>)
    /// Nothing else runs, and the attempt is durable. Exits: `running`, when a thread claims it.
    case ready(DeliveryEntry<Message>)
    /// It runs in this call. Exits: `none`, when the call's place is free again.
    case running(call: Int)
}

/// What a machine wants done, in this order: changes recorded, then the rest.
package struct DeliveryOutput: Sendable, Hashable {
    /// Changes that are to be durable before the messages `keys` go on.
    package struct Commitment: Sendable, Hashable {
        package var changes: [DeliveryChange]
        package var keys: [DeliveryKey]
    }

    package var changes: [DeliveryChange] = []
    package var commitments: [Commitment] = []
    package var loads: [DeliveryLoad] = []
    /// Calls whose deadline has passed.
    package var cancellations: [Int] = []
    package var events: [DeliveryEvent] = []
    /// Why fewer calls run than may from now on, in the order of its coming; `nil`: such a reason is gone.
    package var stalls: [DeliveryStall?] = []

    package init() {}

    /// Makes room for what is about to come, where there is nothing yet: what grows by itself is moved again and again.
    mutating func expect(changes: Int = 0, events: Int = 0) {
        if self.changes.isEmpty { self.changes.reserveCapacity(changes) }
        if self.events.isEmpty { self.events.reserveCapacity(events) }
    }

    package var isEmpty: Bool {
        self.changes.isEmpty && self.commitments.isEmpty && self.loads.isEmpty && self.cancellations.isEmpty
            && self.events.isEmpty && self.stalls.isEmpty
    }
}
