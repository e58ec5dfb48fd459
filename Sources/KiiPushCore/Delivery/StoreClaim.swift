/// What delivery asks the store for: messages, or the names of sources that have some. Answered by a ``StoreAnswer``, when
/// everything that the same turn writes is durable.
package struct StoreClaim: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Rows that wait and belong to no source, after this sequence: those that were set aside, and those of a file of
        /// an earlier version. They stay as they are.
        case unsettled(after: Int64)
        /// Rows that wait for their retry, after this sequence. They stay as they are. Asked for with strict order alone.
        case paused(after: Int64)
        /// Rows that were in hand when an earlier process ended, after this sequence. They stay in hand.
        case suspects(after: Int64)
        /// The numbers of sources that have rows that wait: those after this number, in the order of numbers.
        case sources(after: Int64?)
        /// Rows of a source that wait, those from the lowest sequence on, but none from `before` on. They are in hand from
        /// then on.
        case source(Int64, before: Int64?)
        /// A row that waits, by its sequence. It is in hand from then on.
        case row(Int64)
        /// Retries that are due. They are in hand from then on.
        case retries
    }

    /// The store's key of the installation.
    package var installation: Int64
    /// Which of the installation's attachments, of which there is one after the other, it is for.
    package var attachment: Int
    package var kind: Kind
    /// What the rows that are returned may weigh together, so that it is their largest number too. The first is returned
    /// whatever it weighs. Of sources, their largest number.
    package var limit: Int
    /// What rows weigh.
    package var scale: DeliveryScale

    package init(
        installation: Int64, attachment: Int = 1, kind: Kind, limit: Int, scale: DeliveryScale = .uniform
    ) {
        self.installation = installation
        self.attachment = attachment
        self.kind = kind
        self.limit = limit
        self.scale = scale
    }

    /// Whether the rows that it brings are in hand from then on.
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
    /// The numbers of sources.
    package var sources: [Int64] = []
    /// Whether there are no more of that kind (now, for retries).
    package var isComplete = true
    /// For retries: how long until the next one in the store is due; `nil` if there is none.
    package var nextRetry: Duration?
    /// Why the store could not be read, if it could not; delivery asks again in a second.
    package var failure: String?
    package var isFailure: Bool { self.failure != nil }

    package init() {}
}
