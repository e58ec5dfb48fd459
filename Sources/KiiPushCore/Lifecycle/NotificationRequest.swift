/// A message to be shown to the user, and what the user's reaction is told to.
///
/// - Source: the shape of `UNNotificationRequest`; the content is the payload's `aps`, and the alert what
///   ``NotificationPresenter/alert(for:)`` says.
public struct NotificationRequest: Sendable, Identifiable {
    /// Tells the messages of one inbox apart, across restarts.
    package struct Key: Sendable, Hashable {
        /// The ID of the installation that received the message.
        package var installationID: String
        /// The message's number, as in ``DeliveryContext/messageID``.
        package var messageID: Int64
    }

    package let key: Key
    /// The message's number and installation, such as `12@abc`. It is the same after a restart.
    public var id: String { "\(self.key.messageID)@\(self.key.installationID)" }
    /// The message, for titles and texts of one's own.
    public let message: ReceivedMessage
    /// The alert to show: title, subtitle, body, and whether there is a View button. It always has a text.
    public let alert: NotificationAlert
    /// The name of the sound to play; `default` is the default sound, `nil` none.
    public let sound: String?
    /// The name of the category whose actions are offered.
    public let category: String?
    /// The conversation that the message belongs to, for presenters that group; `nil` for none.
    public let threadID: String?
    /// When the message was received.
    public let receivedAt: Timestamp
    /// Whether it was shown before, by an earlier run of the agent, and not answered. What is still on the screen should be
    /// replaced or taken over rather than shown twice.
    public let wasPresentedBefore: Bool
    /// Takes the one answer there can be. Copies of a request share it.
    private let reply: Locked<(@Sendable (PresentationResponse) -> Bool)?>

    /// Makes a request; `nil` when the message has no alert that could be seen.
    ///
    /// - Parameters:
    ///   - alert: `nil` for the alert of the payload's `aps`.
    ///   - respond: takes the first answer that is given, on the thread of whoever gives it; says whether it counts.
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

    /// Tells what became of the notification. The first answer counts; further ones change nothing.
    ///
    /// May be called from any thread for as long as the ``PushAgent`` exists, also when it does not run: its next run hands
    /// the message over. A request that is let go of without an answer stays open: the next process presents its message.
    ///
    /// - Returns: whether the answer counts: it is the first one, the agent exists, and its runtime has not been shut down.
    @discardableResult
    public func respond(_ response: PresentationResponse) -> Bool { self.takeReply()?(response) ?? false }

    /// Makes any further answer one that does not count.
    func withdraw() { _ = self.takeReply() }

    private func takeReply() -> (@Sendable (PresentationResponse) -> Bool)? { self.reply.withLock { $0.take() } }
}
