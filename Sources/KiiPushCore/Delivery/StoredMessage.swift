package enum RowState: Int64, Sendable, Hashable, CaseIterable {
    /// Stored and acknowledged; not in memory.
    case waiting = 0
    /// In memory: queued, or its handler runs. A message that a restart finds in this state may have ended the process.
    case inHand = 1
    /// The attempt failed; the next one is at ``StoredMessage/nextAttempt``.
    case retry = 2
    /// A notification shows the message, and the user has not reacted.
    case presented = 3
    /// Handled. The store keeps the row for a while, to recognise a redelivery.
    case done = 4
    /// Delivery gave up. The store keeps the row until a person retries or drops it.
    case dead = 5
}

/// A message on its way from the network to a handler, or a row of the store.
package struct StoredMessage: Sendable, Hashable {
    /// The message's number in the store, never used twice; 0 until the message is stored.
    package var sequence: Int64
    package var installation: Int64
    package var topic: String
    package var payload: [UInt8]
    /// The length in bytes of a payload that was cut.
    package var originalLength: Int?
    package var qos: UInt8
    package var duplicate, retain: Bool
    package var packetID: UInt16?
    /// The number of the connection that brought the message.
    package var connection: Int64
    package var receivedAt: Timestamp
    package var source: Int64?
    package var state: RowState
    package var reason: String?
    /// Attempts that failed, and attempts that ran alone when the process ended.
    package var attempts: Int
    /// Attempts that ran alone and have not returned. They are crashes if their process has ended.
    package var crashes: Int
    /// The due time of a retry; `nil` in a store that uses the monotonic clock.
    package var nextAttempt: Timestamp?
    package var updatedAt: Timestamp
    /// The user's choice on the notification. The handler is called (again) with it.
    package var openedBy: UserAction?
    /// The latest end of an attempt, if another process counts the deadline too.
    package var answerBy: MonotonicInstant?
    /// The start of the first attempt in this process, if the time for all attempts is limited.
    package var firstStart: MonotonicInstant?

    package init(
        sequence: Int64 = 0, installation: Int64, topic: String, payload: [UInt8], originalLength: Int? = nil,
        qos: UInt8 = 1, duplicate: Bool = false, retain: Bool = false, packetID: UInt16? = nil, connection: Int64 = 0,
        receivedAt: Timestamp, state: RowState = .inHand, reason: String? = nil, attempts: Int = 0, crashes: Int = 0,
        nextAttempt: Timestamp? = nil, updatedAt: Timestamp? = nil, openedBy: UserAction? = nil,
        answerBy: MonotonicInstant? = nil, source: Int64? = nil, firstStart: MonotonicInstant? = nil
    ) {
        (self.sequence, self.installation, self.topic, self.payload) = (sequence, installation, topic, payload)
        (self.originalLength, self.packetID, self.connection) = (originalLength, packetID, connection)
        (self.qos, self.duplicate, self.retain) = (qos, duplicate, retain)
        (self.receivedAt, self.source, self.state, self.reason) = (receivedAt, source, state, reason)
        (self.attempts, self.crashes, self.nextAttempt) = (attempts, crashes, nextAttempt)
        (self.updatedAt, self.openedBy) = (updatedAt ?? receivedAt, openedBy)
        (self.answerBy, self.firstStart) = (answerBy, firstStart)
    }

    package var bytes: Int { self.payload.count + self.topic.utf8.count }
}
