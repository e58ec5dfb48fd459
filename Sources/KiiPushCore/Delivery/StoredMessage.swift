package enum RowState: Int64, Sendable, Hashable, CaseIterable {
    /// Only in the store: delivery has not read the message yet, or has returned it.
    case waiting = 0
    /// Delivery has the message: queued, or its handler runs. A message that a restart finds in this state may have
    /// ended the earlier process.
    case inHand = 1
    /// The last attempt failed, and the next one has a due time.
    case retry = 2
    /// A notification shows the message, and the user has not reacted.
    case presented = 3
    /// Finished. A durable store keeps the row for a while, to recognise a redelivery.
    case done = 4
    /// Delivery gave up. A durable store keeps the row, usually until a person retries or drops it.
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
    package var connection: Int64
    package var receivedAt: Timestamp
    package var source: Int64?
    package var state: RowState
    package var reason: String?
    /// Failed attempts. An attempt that runs alone is counted before it starts. A message that is done may count its
    /// success too.
    package var attempts: Int
    /// Attempts that ran alone and have no recorded outcome. If their process has ended, it crashed during them.
    package var crashes: Int
    /// The due time of a retry; `nil` in a store that uses the monotonic clock.
    package var nextAttempt: Timestamp?
    package var updatedAt: Timestamp
    /// The user's choice on the notification. The handler is called (again) with it.
    package var openedBy: UserAction?
    /// The end of the time for an attempt, if another process also enforces a deadline.
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
