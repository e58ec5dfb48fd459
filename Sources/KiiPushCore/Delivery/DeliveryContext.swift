/// What a handler is told beside the message. Holds no reference to the agent.
public struct DeliveryContext: Sendable, Hashable {
    /// The ID of the installation that received the message.
    public let installationID: String
    /// The message's number in the inbox: the same in every attempt, and never used for another message. Kii's payloads
    /// carry no message ID, so this is what tells two equal messages apart on this machine.
    public let messageID: Int64
    /// When the message was received.
    public let receivedAt: Timestamp
    /// 1 for the first attempt, 2 for the first retry, and so on.
    public let attempt: Int
    /// Where the program stood when this attempt began; of an agent without an ``AgentLifecycle``, `active`. When the user
    /// opened the notification that showed the message, `inactive`: the program is on its way to the foreground.
    public let state: LifecycleState
    /// What the user chose on the notification that showed the message; `nil` when the message arrived.
    public let userAction: UserAction?
    /// When the attempt is over without an answer, on the monotonic clock.
    package let deadlineInstant: MonotonicInstant

    /// - Parameter deadlineInstant: Default: it is over, for who only tells of the attempt.
    package init(
        installationID: String, messageID: Int64, receivedAt: Timestamp, attempt: Int,
        state: LifecycleState = .active, userAction: UserAction? = nil,
        deadlineInstant: MonotonicInstant = MonotonicInstant(nanoseconds: 0)
    ) {
        self.installationID = installationID
        self.messageID = messageID
        self.receivedAt = receivedAt
        self.attempt = attempt
        self.state = state
        self.userAction = userAction
        self.deadlineInstant = deadlineInstant
    }

    /// Whether the handler is called because the user opened the notification that showed the message; false for a
    /// ``UserAction/background(_:)``. The handler may have been called for the same message before, when it arrived.
    public var isUserOpened: Bool { self.userAction?.opensProgram == true }

    /// How much time is left for the answer; zero when it is over. Stands still while the machine is suspended.
    package var timeRemaining: Duration { max(.zero, self.deadlineInstant - MonotonicInstant.now()) }
}

/// Where the program stands between the user and the background.
///
/// - Source: `UIApplication.State`; "not running" is that of the launch detection document.
public enum LifecycleState: String, Sendable, Hashable, CaseIterable {
    /// The program does not run: the state of the message that launches it. A running program never sees this state.
    case notRunning
    /// In the foreground without the user's attention: on the way in or out, or behind an app switcher.
    case inactive
    /// In the foreground, in use. A program without a user is always here.
    case active
    /// Running where the user does not see it.
    case background
}
