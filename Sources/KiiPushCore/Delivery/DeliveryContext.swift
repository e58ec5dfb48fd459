/// The circumstances of one attempt to deliver a message.
public struct DeliveryContext: Sendable, Hashable {
    /// The ID of the installation that received the message.
    public let installationID: String
    /// The message's number in the inbox, the same in every attempt. No other message gets this number, except after a
    /// restart with an inbox in memory. Kii's payloads have no message ID, so only this number tells equal messages
    /// apart.
    public let messageID: Int64
    /// When the message was received.
    public let receivedAt: Timestamp
    /// 1 for the first attempt, 2 for the first retry, and so on.
    public let attempt: Int
    /// The program's state when this attempt began; `active` for an agent without an ``AgentLifecycle``. If the user
    /// opened the message's notification, always `inactive`.
    public let state: LifecycleState
    /// The user's choice on the message's notification; `nil` before any choice.
    public let userAction: UserAction?
    package let deadlineInstant: MonotonicInstant

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

    /// Whether the user opened the message's notification; false for ``UserAction/background(_:)``. The handler may
    /// have got the same message before, when it arrived.
    public var isUserOpened: Bool { self.userAction?.opensProgram == true }

    /// Zero after the deadline. Stands still while the machine is suspended.
    package var timeRemaining: Duration { max(.zero, self.deadlineInstant - MonotonicInstant.now()) }
}

/// The state of a program with a user interface.
///
/// - Source: `UIApplication.State`; ``notRunning`` comes from Kii's launch detection document.
public enum LifecycleState: String, Sendable, Hashable, CaseIterable {
    /// The program does not run. A message that arrives in this state may launch the program.
    case notRunning
    /// In the foreground without the user's attention, such as behind an app switcher.
    case inactive
    /// In the foreground, in use. A program without an ``AgentLifecycle`` counts as active.
    case active
    /// The program runs, and the user does not see it.
    case background
}
