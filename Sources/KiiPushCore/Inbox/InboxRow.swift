/// What becomes of a stored message.
package struct RowChange: Sendable, Hashable {
    package var sequence: Int64
    package var state: RowState
    /// `nil` leaves the number as it is.
    package var attempts, crashes: Int?
    package var nextAttempt: Timestamp?
    /// The last error, or why the message is dead. `nil` keeps what is there unless the row becomes `done`.
    package var reason: String?
    /// When the message was acknowledged. What is written first stays; `nil` keeps what is there.
    package var acknowledgedAt: Timestamp?
    /// Of a row that becomes `done`, or that something happens to: when the attempt started that came to this.
    package var startedAt: Timestamp?
    /// Of a row that becomes `done`: what that attempt came to.
    package var answer: FetchResult?
    /// What the user chose on the notification that showed it; `nil` keeps what is there. A row in hand stays in hand.
    package var openedBy: String?
    /// The only state in which the row is changed; `nil`: any.
    package var onlyIn: RowState?
    /// What is recorded besides; it happened when the change is made.
    package var event: MessageEvent.Kind?
    /// The attempt that started at ``startedAt``, where the event does not say that.
    package var attempt: Int?
    /// What becomes of the source that it belongs to.
    package var source = Source.asItIs
    /// How long its topic and payload are, if that is known.
    package var bytes: Int?
    /// Whether no handler was meant for it: such a dead letter may be cut, and removed when newer ones come.
    package var isRefused = false

    /// What becomes of a row's source.
    package enum Source: Sendable, Hashable {
        case asItIs
        case set(Int64)
        /// It belongs to none until its agent runs anew.
        case none
    }

    package init(
        sequence: Int64, state: RowState, attempts: Int? = nil, crashes: Int? = nil, nextAttempt: Timestamp? = nil,
        reason: String? = nil
    ) {
        (self.sequence, self.state, self.attempts, self.crashes) = (sequence, state, attempts, crashes)
        (self.nextAttempt, self.reason) = (nextAttempt, reason)
    }

    /// Leaves the row's attempts and crashes as they are.
    mutating func keepNumbers() { (self.attempts, self.crashes) = (nil, nil) }
}

/// What a redelivery filter needs to know about a row whose acknowledgement may not have arrived.
package struct UnprovenRow: Sendable, Hashable {
    package var sequence: Int64
    package var packetID: UInt16

    package init(sequence: Int64, packetID: UInt16) { (self.sequence, self.packetID) = (sequence, packetID) }
}
