/// Delivery's request to the store for rows, or for the numbers of sources with rows.
package struct StoreClaim: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Waiting rows without a source, after this sequence.
        case unsettled(after: Int64)
        /// Rows that wait for their retry, after this sequence. Only strict order needs them.
        case paused(after: Int64)
        /// Rows that an ended process had in memory, after this sequence.
        case suspects(after: Int64)
        /// The numbers of sources with waiting rows, after this number and in order.
        case sources(after: Int64?)
        /// Waiting rows of a source with sequences below `before`, in order.
        case source(Int64, before: Int64?)
        /// The row with this sequence, if it waits.
        case row(Int64)
        case retries
    }

    package var installation: Int64
    package var attachment = 1
    package var kind: Kind
    /// The largest weight of all rows together; the first row may weigh more. A store in memory counts rows instead,
    /// since it holds all payloads anyway. For `sources`: the most numbers.
    package var limit: Int
    package var scale = DeliveryScale.uniform

    package var takesInHand: Bool {
        switch self.kind {
        case .source, .row, .retries: true
        case .unsettled, .paused, .suspects, .sources: false
        }
    }
}

package struct StoreAnswer: Sendable, Hashable {
    /// In the order of their sequences; retries from a file in the order of their due times.
    package var messages: [StoredMessage] = []
    package var sources: [Int64] = []
    /// `false` if more of what the claim asked for may be in the store. For retries: more that are due now.
    package var isComplete = true
    package var nextRetry: Duration?
    /// The reason if the store could not be read. Delivery asks again in a second.
    package var failure: String?
    package var isFailure: Bool { self.failure != nil }

    package init(failure: String? = nil) { self.failure = failure }
}
