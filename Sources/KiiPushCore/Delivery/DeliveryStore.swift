/// What delivery asks to be written about a message. Changes of one message are to be applied in the order given.
package struct DeliveryChange: Sendable, Hashable {
    package enum Verdict: Sendable, Hashable {
        /// Handled (or there was nothing to handle): never delivered again.
        case done(FetchResult)
        /// To be tried again when `after` has passed.
        case retry(after: Duration, failure: DeliveryFailure)
        /// Handed to a handler; if the process ends now, it is suspected.
        case inHand
        /// Given back unstarted: not in memory any more.
        case waiting
        /// Shown to the user.
        case presented
        /// Given up on.
        case dead(DeadLetterReason)
        /// The user opened what showed it. One in hand stays so; any other waits to be delivered, with its attempts
        /// forgotten. From now on it is read back with what the user chose.
        case opened(DeliveryOpening)
        /// What showed it is gone, unopened: done without data if it is in state presented, and otherwise as it was.
        case unopened
        /// It cannot be shown any more: waits to be delivered if it is in state presented, and is otherwise as it was.
        case unpresented
    }

    /// The attempt that a change is about.
    package struct Attempt: Sendable, Hashable {
        /// 1, 2, …
        package var number: Int
        /// When its handler was called; `nil` before that, and where an answer is late: what was recorded when the
        /// attempt was over has it.
        package var startedAt: MonotonicInstant?
        /// When it came to this; `nil` before.
        package var endedAt: MonotonicInstant?

        package init(number: Int, startedAt: MonotonicInstant? = nil, endedAt: MonotonicInstant? = nil) {
            self.number = number
            self.startedAt = startedAt
            self.endedAt = endedAt
        }
    }

    package var sequence: Int64
    package var installation: Int64
    package var verdict: Verdict
    /// The row's attempts from now on.
    package var attempts: Int
    /// The row's crashes from now on.
    package var crashes: Int
    /// For the record; `nil` where the change follows from no attempt. With ``Verdict/inHand``: the attempt that is to
    /// run alone.
    package var attempt: Attempt?

    package init(
        sequence: Int64, installation: Int64, verdict: Verdict, attempts: Int, crashes: Int, attempt: Attempt? = nil
    ) {
        self.sequence = sequence
        self.installation = installation
        self.verdict = verdict
        self.attempts = attempts
        self.crashes = crashes
        self.attempt = attempt
    }
}

/// What delivery wants to read back from the store.
package struct DeliveryLoad: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Rows that wait for their retry, due or not, after this sequence, in order. They stay as they are. Asked for
        /// with strict order alone, before anything else is: what came after them is held back.
        case paused(after: Int64)
        /// Rows that were in hand when an earlier process ended, after this sequence. They stay in hand.
        case suspects(after: Int64)
        /// Rows that wait, from the lowest sequence. The store marks what it returns as in hand, durably, before it
        /// hands them over.
        case waiting
        /// Retries that are due, marked as in hand likewise.
        case retries
        /// Rows that wait, after this sequence, in order. They stay as they are: those that are taken into memory are
        /// marked by a change of their own. Asked for while sources keep to a share of memory.
        case scan(after: Int64)

        /// Whether the store marks what it returns as in hand.
        package var isMarking: Bool { self == .waiting || self == .retries }
    }

    package var installation: Int64
    package var kind: Kind
    /// What the rows that are returned may weigh together, so that it is their largest number too. The first is returned
    /// whatever it weighs.
    package var limit: Int
    /// What rows weigh.
    package var scale: DeliveryScale
    /// Which of the installation's attachments, of which there is one after the other, it is for.
    package var attachment: Int

    package init(
        installation: Int64, kind: Kind, limit: Int, scale: DeliveryScale = .uniform, attachment: Int = 1
    ) {
        self.installation = installation
        self.kind = kind
        self.limit = limit
        self.scale = scale
        self.attachment = attachment
    }
}

/// What the store answers to a ``DeliveryLoad``.
package struct DeliveryPage: Sendable, Hashable {
    /// The rows in order; ``StoredMessage/wasInHand`` is set on suspects, ``StoredMessage/pause`` on paused ones, and on
    /// no others.
    package var messages: [StoredMessage]
    /// Whether there are no more rows of that kind (now, for retries).
    package var isComplete: Bool
    /// For retries: how long until the next one in the store is due; `nil` if there is none.
    package var nextRetry: Duration?
    /// The store could not be read; delivery asks again in a second.
    package var isFailure: Bool

    package init(
        messages: [StoredMessage], isComplete: Bool, nextRetry: Duration? = nil, isFailure: Bool = false
    ) {
        self.messages = messages
        self.isComplete = isComplete
        self.nextRetry = nextRetry
        self.isFailure = isFailure
    }
}

/// Where the messages are kept. Every call returns at once; the work is done in the store's own time and order.
///
/// Called one call at a time, on whichever thread something happened, never under a lock.
package protocol DeliveryStore: AnyObject, Sendable {
    /// Has `changes` written with the next transaction. A change of a row that is gone is ignored.
    func record(_ changes: [DeliveryChange])

    /// Has `changes` written, and calls `committed` from any thread once they are durable.
    func record(_ changes: [DeliveryChange], thenDurably committed: @escaping @Sendable () -> Void)

    /// Reads rows back, and calls `deliver` from any thread, exactly once, when those that it marked are durable.
    func load(_ request: DeliveryLoad, deliver: @escaping @Sendable (DeliveryPage) -> Void)
}
