package enum RowState: Int64, Sendable, Hashable, CaseIterable {
    /// Stored and acknowledged; not in memory.
    case waiting = 0
    /// Handed to delivery. If a restart finds the row in this state, the message may have ended the process.
    case inHand = 1
    /// Failed; the next attempt is at ``StoredMessage/nextAttempt``.
    case retry = 2
    /// Shown to the user, who has not reacted.
    case presented = 3
    /// Handled. The store keeps the row for a while, to recognise a redelivery.
    case done = 4
    /// Given up on, with a reason. The store keeps the row until a person retries or drops it.
    case dead = 5
}

/// A message as a store takes it from the network, keeps it, and hands it to delivery.
package struct StoredMessage: Sendable, Hashable {
    /// The store's key of the message: rises by one a message, never used twice. 0 until the message is stored.
    package var sequence: Int64
    /// The store's key of the installation that received it.
    package var installation: Int64
    package var topic: String
    /// The payload; for an oversized message, its beginning.
    package var payload: [UInt8]
    /// The payload's length in bytes, if ``payload`` is only its beginning.
    package var originalLength: Int?
    package var qos: UInt8
    package var duplicate, retain: Bool
    /// The packet identifier; `nil` at QoS 0.
    package var packetID: UInt16?
    /// The generation of the connection that it came on.
    package var connection: Int64
    package var receivedAt: Timestamp
    package var source: Int64?
    package var state: RowState
    /// The last error, or why the message is dead.
    package var reason: String?
    /// Attempts that ended in failure, and attempts that ran alone when the process ended.
    package var attempts: Int
    /// Attempts that ran alone and have not returned. Once their process is gone, each of them is a crash.
    package var crashes: Int
    /// When the next attempt is due, in state `retry`, if the store keeps the calendar's time.
    package var nextAttempt: Timestamp?
    package var updatedAt: Timestamp
    /// The user's choice on the notification that showed it. The handler is called (again) with it.
    package var openedBy: UserAction?
    /// The latest end of its attempt, if another process counts the deadline as well.
    package var answerBy: MonotonicInstant?
    /// When its first attempt in this process started, if the time for all attempts is limited.
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
