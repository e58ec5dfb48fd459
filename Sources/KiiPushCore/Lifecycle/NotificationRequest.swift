/// A message to show to the user, with the function that takes the user's reaction.
///
/// - Source: the shape of `UNNotificationRequest`.
public struct NotificationRequest: Sendable, Identifiable {
    package struct Key: Sendable, Hashable {
        package var installationID: String
        package var messageID: Int64
    }

    package let key: Key
    /// The message's number and installation, such as `12@abc`; the same after a restart.
    public var id: String { "\(self.key.messageID)@\(self.key.installationID)" }
    /// The whole message.
    public let message: ReceivedMessage
    /// The alert to show. It has a text, or the key of a localized text.
    public let alert: NotificationAlert
    /// The name of the sound; `default` for the default sound, `nil` for none.
    public let sound: String?
    /// The category, which names the actions that the presenter offers.
    public let category: String?
    /// The conversation that the message belongs to; `nil` for none. A presenter may group by it.
    public let threadID: String?
    /// The time of reception.
    public let receivedAt: Timestamp
    /// Whether an earlier run of the agent showed the message without an answer. A presenter should then replace a
    /// notification that is still on the screen, instead of adding another one.
    public let wasPresentedBefore: Bool
    private let reply: Locked<(@Sendable (PresentationResponse) -> Bool)?>

    /// `nil` if the message has no visible alert. `respond` takes the first answer, on any thread, and returns whether
    /// the answer counts.
    package init?(
        key: Key, message: ReceivedMessage, alert: NotificationAlert? = nil, receivedAt: Timestamp,
        wasPresentedBefore: Bool = false, respond: @escaping @Sendable (PresentationResponse) -> Bool
    ) {
        guard let alert = alert ?? message.content?.alert, alert.isVisible else { return nil }
        self.key = key
        self.message = message
        self.alert = alert
        self.sound = message.content?.sound
        self.category = message.content?.category
        self.threadID = message.content?.threadID
        self.receivedAt = receivedAt
        self.wasPresentedBefore = wasPresentedBefore
        self.reply = Locked(respond)
    }

    /// Reports the end of the notification. Only the first answer counts.
    ///
    /// Any thread may call this while the ``PushAgent`` exists. If the agent does not run, its next run delivers the
    /// message. If a request is released without an answer, the next process presents the message again.
    ///
    /// - Returns: whether the answer counts: it is the first one, the agent exists, and its runtime is not shut down.
    @discardableResult
    public func respond(_ response: PresentationResponse) -> Bool { self.takeReply()?(response) ?? false }

    func withdraw() { _ = self.takeReply() }

    private func takeReply() -> (@Sendable (PresentationResponse) -> Bool)? { self.reply.withLock { $0.take() } }
}
