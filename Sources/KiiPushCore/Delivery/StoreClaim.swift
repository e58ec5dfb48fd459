/// What delivery asks the store for: messages, or the names of sources that have some. Answered by a ``StoreAnswer``, when
/// everything that the same turn writes is durable.
package struct StoreClaim: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Waiting rows without a source, after this sequence: set aside. They stay as they are.
        case unsettled(after: Int64)
        /// Rows that wait for their retry, after this sequence. They stay as they are. Asked for with strict order alone.
        case paused(after: Int64)
        /// Rows that were in hand when an earlier process ended, after this sequence. They stay in hand.
        case suspects(after: Int64)
        /// The numbers of sources with waiting rows: those after this number, in the order of numbers.
        case sources(after: Int64?)
        /// Rows of a source that wait, from the lowest sequence on, below `before`. They are in hand from then on.
        case source(Int64, before: Int64?)
        /// A row that waits, by its sequence. It is in hand from then on.
        case row(Int64)
        /// Retries that are due. They are in hand from then on.
        case retries
    }

    package var installation: Int64
    /// Tells it from claims before the installation was attached again.
    package var attachment = 1
    package var kind: Kind
    /// The most that the rows may weigh together; the first is returned whatever it weighs. For `sources`: how many.
    package var limit: Int
    package var scale = DeliveryScale.uniform

    package var takesInHand: Bool {
        switch self.kind {
        case .source, .row, .retries: true
        case .unsettled, .paused, .suspects, .sources: false
        }
    }
}

/// What the store answers to a ``StoreClaim``.
package struct StoreAnswer: Sendable, Hashable {
    /// The rows, in the order of their sequences; of retries in the order in which they are due.
    package var messages: [StoredMessage] = []
    package var sources: [Int64] = []
    /// Whether there are no more of that kind (now, for retries).
    package var isComplete = true
    /// For retries: how long until the next one in the store is due; `nil` if there is none.
    package var nextRetry: Duration?
    /// Why the store could not be read, if it could not; delivery asks again in a second.
    package var failure: String?
    package var isFailure: Bool { self.failure != nil }

    package init(failure: String? = nil) { self.failure = failure }
}
