/// The circumstances of one attempt to deliver a message. Holds no reference to the agent.
public struct DeliveryContext: Sendable, Hashable {
    /// The ID of the installation that received the message.
    public let installationID: String
    /// The message's number in the inbox: the same in every attempt, and never used for another message. Kii's payloads
    /// carry no message ID; this number tells two equal messages apart on this machine.
    public let messageID: Int64
    /// When the message was received.
    public let receivedAt: Timestamp
    /// 1 for the first attempt, 2 for the first retry, and so on.
    public let attempt: Int
    /// The program's state when this attempt began; `active` for an agent without an ``AgentLifecycle``. After the user
    /// opened the notification that showed the message it is `inactive`: the program is on its way to the foreground.
    public let state: LifecycleState
    /// The user's choice on the notification that showed the message; `nil` before any choice, when the message
    /// arrived.
    public let userAction: UserAction?
    package let deadlineInstant: MonotonicInstant

    /// - Parameter deadlineInstant: Default: in the past, for callers that only report the attempt.
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

    /// The time left for the answer; zero when it is over. It stands still while the machine is suspended.
    package var timeRemaining: Duration { max(.zero, self.deadlineInstant - MonotonicInstant.now()) }
}

/// The program's state between the user and the background.
///
/// - Source: `UIApplication.State`; "not running" comes from the launch detection document.
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
