/// A message as the store hands it to delivery.
package struct StoredMessage: Sendable, Hashable {
    /// The store's key of the message.
    package var sequence: Int64
    /// The store's key of the installation that received it.
    package var installation: Int64
    /// The MQTT topic it came on.
    package var topic: String
    /// The payload; of an oversized message its beginning.
    package var payload: [UInt8]
    /// How long the payload was in bytes, if ``payload`` is only its beginning.
    package var originalLength: Int?
    /// When it was received.
    package var receivedAt: Timestamp
    /// Attempts that failed, and attempts that ran alone when the process ended.
    package var attempts: Int
    /// Attempts that ran alone when the process ended.
    package var crashes: Int
    /// It was in hand when an earlier process ended: it may be what ended it, and runs alone.
    package var wasInHand: Bool
    /// How long until its next attempt is due, if it waits for that; zero or less when it is overdue.
    package var pause: Duration?
    /// What the user chose on the notification that showed it, who is yet to be told: the handler is called (again).
    package var openedBy: UserAction?
    /// When its attempt is over at the latest, where another process counts that as well.
    package var answerBy: MonotonicInstant?
    /// Its topic is not the installation's.
    package var isUnexpectedTopic: Bool

    package init(
        sequence: Int64,
        installation: Int64,
        topic: String,
        payload: [UInt8],
        originalLength: Int? = nil,
        receivedAt: Timestamp,
        attempts: Int = 0,
        crashes: Int = 0,
        wasInHand: Bool = false,
        pause: Duration? = nil,
        openedBy: UserAction? = nil,
        answerBy: MonotonicInstant? = nil,
        isUnexpectedTopic: Bool = false
    ) {
        self.sequence = sequence
        self.installation = installation
        self.topic = topic
        self.payload = payload
        self.originalLength = originalLength
        self.receivedAt = receivedAt
        self.attempts = attempts
        self.crashes = crashes
        self.wasInHand = wasInHand
        self.pause = pause
        self.openedBy = openedBy
        self.answerBy = answerBy
        self.isUnexpectedTopic = isUnexpectedTopic
    }

    package var isUserOpened: Bool { self.openedBy != nil }

    /// The bytes of its payload and topic.
    package var bytes: Int { self.payload.count + self.topic.utf8.count }
}
