/// Where a stored message stands.
package enum RowState: Int64, Sendable, Hashable, CaseIterable {
    /// Stored and acknowledged; not in memory.
    case waiting = 0
    /// Handed to delivery. Found after a restart, it may be what ended the process.
    case inHand = 1
    /// Failed, and to be tried again at ``StoredRow/nextAttempt``.
    case retry = 2
    /// Shown to the user, who has not reacted.
    case presented = 3
    /// Handled. Kept for a while, so that a redelivery is recognised.
    case done = 4
    /// Given up on, with a reason. Kept until a person retries or drops it.
    case dead = 5
}

/// A message as it came from the network, to be stored.
package struct NewRow: Sendable, Hashable {
    /// The key of the installation that received it.
    package var installation: Int64
    package var topic: String
    /// The payload; of an oversized message its beginning.
    package var payload: [UInt8]
    /// The payload's length in bytes, if ``payload`` is only its beginning.
    package var originalLength: Int?
    package var qos: UInt8
    package var duplicate, retain: Bool
    /// The packet identifier; `nil` at QoS 0.
    package var packetID: UInt16?
    /// The generation of the connection it came on.
    package var connection: Int64
    package var receivedAt: Timestamp
    /// When the transaction that stores it began, if that is to be kept.
    package var storedAt: Timestamp?
    /// When it is acknowledged, of a message that nothing more is written about.
    package var acknowledgedAt: Timestamp?
    /// `inHand`, `waiting`, or `dead` of a message that no handler is to see.
    package var state: RowState
    package var reason: String?
    /// The number of its source; `nil` while it belongs to none.
    package var source: Int64?

    package init(
        installation: Int64, topic: String, payload: [UInt8], originalLength: Int? = nil, qos: UInt8 = 1,
        duplicate: Bool = false, retain: Bool = false, packetID: UInt16? = nil, connection: Int64 = 0,
        receivedAt: Timestamp, storedAt: Timestamp? = nil, state: RowState = .inHand, reason: String? = nil,
        source: Int64? = nil
    ) {
        (self.installation, self.connection, self.packetID) = (installation, connection, packetID)
        (self.topic, self.payload, self.originalLength) = (topic, payload, originalLength)
        (self.qos, self.duplicate, self.retain) = (qos, duplicate, retain)
        (self.receivedAt, self.storedAt) = (receivedAt, storedAt)
        (self.state, self.reason, self.source) = (state, reason, source)
    }

    /// How many bytes the row counts as.
    var bytes: Int64 { InboxCounts.bytes(topic: self.topic.utf8.count, payload: self.payload.count) }
}

/// A message as the inbox holds it.
package struct StoredRow: Sendable, Hashable {
    /// The row's key: rises by one a message, never used twice.
    package var sequence: Int64
    /// What was stored; `state` and `reason` are the present ones.
    package var message: NewRow
    /// Attempts that ended in failure, and attempts that ran alone when the process ended.
    package var attempts: Int
    /// Attempts that ran alone and have not returned: each is a crash, once the process that made it is gone.
    package var crashes: Int
    /// When the next attempt is due, in state `retry`.
    package var nextAttempt: Timestamp?
    package var updatedAt: Timestamp
    /// What the user chose on the notification that showed it.
    package var openedBy: String?

    package init(
        sequence: Int64, message: NewRow, attempts: Int, crashes: Int, nextAttempt: Timestamp? = nil,
        updatedAt: Timestamp, openedBy: String? = nil
    ) {
        (self.sequence, self.message, self.attempts, self.crashes) = (sequence, message, attempts, crashes)
        (self.nextAttempt, self.updatedAt, self.openedBy) = (nextAttempt, updatedAt, openedBy)
    }

    package var state: RowState { self.message.state }
}

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
