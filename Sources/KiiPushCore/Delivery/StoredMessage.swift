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
    package var receivedAt: Timestamp
    /// Attempts that failed, and attempts that ran alone when the process ended.
    package var attempts: Int
    package var crashes: Int
    /// What the user chose on the notification that showed it, who is yet to be told: the handler is called (again).
    package var openedBy: UserAction?
    /// When its attempt is over at the latest, where another process counts that as well.
    package var answerBy: MonotonicInstant?
    package var isUnexpectedTopic: Bool
    /// Which source it belongs to; `nil` where the store has not noted that.
    package var source: Int64?
    /// When its first attempt in this process started, where the time for all attempts is limited.
    package var firstStart: MonotonicInstant?

    package init(
        sequence: Int64, installation: Int64, topic: String, payload: [UInt8], originalLength: Int? = nil,
        receivedAt: Timestamp, attempts: Int = 0, crashes: Int = 0, openedBy: UserAction? = nil,
        answerBy: MonotonicInstant? = nil, isUnexpectedTopic: Bool = false, source: Int64? = nil,
        firstStart: MonotonicInstant? = nil
    ) {
        (self.sequence, self.installation, self.topic, self.payload) = (sequence, installation, topic, payload)
        (self.originalLength, self.receivedAt) = (originalLength, receivedAt)
        (self.attempts, self.crashes, self.openedBy, self.answerBy) = (attempts, crashes, openedBy, answerBy)
        (self.isUnexpectedTopic, self.source, self.firstStart) = (isUnexpectedTopic, source, firstStart)
    }

    package var isUserOpened: Bool { self.openedBy != nil }

    /// The bytes of its payload and topic.
    package var bytes: Int { self.payload.count + self.topic.utf8.count }
}
