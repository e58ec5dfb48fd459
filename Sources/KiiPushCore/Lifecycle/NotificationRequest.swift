/// A message to show to the user, with the function that takes the user's reaction.
///
/// - Source: the shape of `UNNotificationRequest`; the content is the payload's `aps`, the alert the result of
///   ``NotificationPresenter/alert(for:)``.
public struct NotificationRequest: Sendable, Identifiable {
    /// Identifies a message across installations and restarts.
    package struct Key: Sendable, Hashable {
        package var installationID: String
        /// The message's number, as in ``DeliveryContext/messageID``.
        package var messageID: Int64
    }

    package let key: Key
    /// The message's number and installation, such as `12@abc`. A restart does not change it.
    public var id: String { "\(self.key.messageID)@\(self.key.installationID)" }
    /// The message, for presenters that make their own titles and texts.
    public let message: ReceivedMessage
    /// The alert to show: title, subtitle, body, and whether there is a View button. It always has a text.
    public let alert: NotificationAlert
    /// The name of the sound to play; `default` is the default sound, `nil` none.
    public let sound: String?
    /// The name of the category whose actions the presenter offers.
    public let category: String?
    /// The conversation that the message belongs to, for presenters that group; `nil` for none.
    public let threadID: String?
    /// The time of reception.
    public let receivedAt: Timestamp
    /// Whether an earlier run of the agent showed the message without an answer. A presenter should replace or take
    /// over a notification that is still on the screen, and not show it twice.
    public let wasPresentedBefore: Bool
    /// The function that takes the only answer. Copies of a request share it.
    private let reply: Locked<(@Sendable (PresentationResponse) -> Bool)?>

    /// Makes a request; `nil` when the message has no visible alert.
    ///
    /// - Parameters:
    ///   - alert: `nil` for the alert of the payload's `aps`.
    ///   - respond: takes the first answer, on the thread that gives it, and returns whether the answer counts.
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

    /// Reports the end of the notification. The first answer counts; later ones do nothing.
    ///
    /// Any thread may call this while the ``PushAgent`` exists. If the agent does not run, its next run delivers the
    /// message. Releasing a request without an answer leaves it open: the next process presents its message.
    ///
    /// - Returns: whether the answer counts. It does if it is the first one, the agent exists, and its runtime is not
    ///   shut down.
    @discardableResult
    public func respond(_ response: PresentationResponse) -> Bool { self.takeReply()?(response) ?? false }

    /// Makes later answers do nothing.
    func withdraw() { _ = self.takeReply() }

    private func takeReply() -> (@Sendable (PresentationResponse) -> Bool)? { self.reply.withLock { $0.take() } }
}
