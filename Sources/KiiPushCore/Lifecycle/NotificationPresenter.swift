/// Shows notifications to the user, as iOS does with banners and Notification Center.
///
/// An agent passes its presenter the messages with an alert that arrive in state ``LifecycleState/background``. An
/// agent without a presenter behaves as if its presenter always returned ``PresentationOutcome/unavailable``.
///
/// A presented message whose handler was not called stays in the inbox until the presenter calls
/// ``NotificationRequest/respond(_:)``. After a restart, the agent passes the message to ``present(_:)`` again, with
/// ``NotificationRequest/wasPresentedBefore`` set. The message that launched the program (``LaunchOptions/messageID``)
/// goes to its handler instead. An inbox in memory loses the message with the process.
public protocol NotificationPresenter: Sendable {
    /// Shows a notification, and keeps `request` to answer it when the user reacts.
    ///
    /// The library calls this on its own threads, never on the main actor or the cooperative pool, so the call may
    /// block. The call should return within 5 s, because it occupies the place of a handler. Calls for different
    /// messages may overlap, as many as handlers may run. Calls for messages of one source come one after the other, in
    /// the order of reception.
    ///
    /// If the call takes more than 30 s, another thread calls the handler with the message, and the library ignores the
    /// result of this call. The library replaces at most 64 blocked threads at once, including threads of blocked
    /// handlers. A further blocked call keeps its place, and its source waits.
    ///
    /// - Parameter request: the message, and the function that takes the user's reaction. Any thread may answer the
    ///   request at any time, even before this call returns.
    /// - Returns: whether the notification is shown. A presenter that cannot show anything at all (no session bus, say)
    ///   returns ``PresentationOutcome/unavailable`` each time, and reports the reason once by its own means.
    func present(_ request: NotificationRequest) -> PresentationOutcome

    /// The alert to show for a message, in place of the payload's own alert. Default: the alert of the `aps`.
    ///
    /// Kii's own cloud sends no `aps` over MQTT, and so no alert. A presenter may make an alert from the message's
    /// data. A message without `aps` counts as `content-available`: in the background the agent calls the handler and
    /// presents the alert.
    ///
    /// Called when a message arrives in the background, and before the agent presents a message after a restart. Runs
    /// on the threads of ``present(_:)``, and should return at once.
    ///
    /// - Returns: the alert. For `nil`, or an alert without any text, the agent presents nothing.
    func alert(for message: ReceivedMessage) -> NotificationAlert?
}

extension NotificationPresenter {
    /// The alert of the payload's `aps`.
    public func alert(for message: ReceivedMessage) -> NotificationAlert? { message.content?.alert }
}

/// The result of showing a notification.
public enum PresentationOutcome: Sendable, Hashable {
    /// The notification is shown, or will be. The presenter answers the request later.
    case presented
    /// The notification cannot be shown. The agent calls the handler with the message at once. Later answers to the
    /// request do not count.
    case unavailable
}

/// The end of a notification that was shown.
public enum PresentationResponse: Sendable, Hashable {
    /// The user chose the notification or one of its actions. The agent passes the message to the ``UserActionHandler``
    /// or, without one, to the reception handler. ``UserAction/background(_:)`` does not change the program's
    /// state.
    case opened(UserAction)
    /// The user removed the notification. The message is done with ``FetchResult/noData``, if its handler was not
    /// called.
    case dismissed
    /// The notification vanished by itself, and the user cannot open it any more. The effect is that of ``dismissed``.
    /// A notification that the user can still open from a list is not expired.
    case expired
    /// The notification vanished without the user, and the presenter cannot show it for now: its display program ended,
    /// for example. If the handler was not called, the agent delivers the message again.
    case unavailable
}
