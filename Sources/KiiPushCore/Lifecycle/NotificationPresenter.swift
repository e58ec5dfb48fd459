/// Shows notifications to the user, as iOS does with banners and Notification Center.
///
/// An agent passes its presenter the messages with an alert that arrive while the program is in the background
/// (``LifecycleState/background``). In the foreground it presents nothing. An agent without a presenter behaves as if
/// its presenter always returned ``PresentationOutcome/unavailable``.
///
/// If the agent has not called the handler, the message stays in the inbox as *presented* until the presenter answers
/// its request (``NotificationRequest/respond(_:)``). Restarts do not change that. When the agent runs in another
/// process, it passes every such message to ``present(_:)`` again, with ``NotificationRequest/wasPresentedBefore`` set.
/// Only the message that launched the program (``LaunchOptions/messageID``) goes to its handler instead.
public protocol NotificationPresenter: Sendable {
    /// Shows a notification, and keeps `request` to answer it when the user reacts.
    ///
    /// The library calls this on its own threads, never on the main actor or the cooperative pool, so it may block. It
    /// should return within 5 s, because it occupies the place of a handler.
    ///
    /// If the call has not returned after 30 s, another thread calls the handler with the message (its first attempt).
    /// The library then ignores the result of this call. The blocked thread is lost until the call returns. The library
    /// replaces at most 64 blocked threads at once, including blocked handlers. A further blocked call keeps its place,
    /// and its source waits.
    ///
    /// Calls for different messages may overlap, as many at once as handlers may run. Calls for one source follow each
    /// other in the order of reception, as long as they return in time. The agent maintains the badge itself.
    ///
    /// - Parameter request: the message, and the function that takes the user's reaction. Any thread may answer it at
    ///   any time, even before this returns.
    /// - Returns: whether the notification is shown. A presenter that cannot show anything at all (no session bus, say)
    ///   returns ``PresentationOutcome/unavailable`` each time, and reports the reason once by its own means.
    func present(_ request: NotificationRequest) -> PresentationOutcome

    /// The alert to show for a message, in place of the payload's own alert.
    ///
    /// Kii's own cloud sends no `aps` over MQTT, and so no alert. A presenter may make an alert from the message's
    /// data. A message without `aps` counts as `content-available`, so in the background the agent calls the handler
    /// and presents the alert.
    ///
    /// The agent calls this once for each message that arrives in the background, and again when it presents the
    /// message after a restart. Both calls come on the threads of ``present(_:)``; this should return at once.
    ///
    /// - Returns: the alert. `nil`, or an alert without any text, shows nothing. Default: the alert of the `aps`.
    func alert(for message: ReceivedMessage) -> NotificationAlert?
}

extension NotificationPresenter {
    /// The alert of the payload's `aps`.
    public func alert(for message: ReceivedMessage) -> NotificationAlert? { message.content?.alert }
}

/// The result of showing a notification.
public enum PresentationOutcome: Sendable, Hashable {
    /// The notification is shown, or will be; the presenter will answer its request.
    case presented
    /// The notification cannot be shown. The agent calls the handler with the message at once, unless it calls it
    /// anyway. Later answers to the request do not count.
    case unavailable
}

/// The end of a notification that was shown.
public enum PresentationResponse: Sendable, Hashable {
    /// The user chose the notification, or one of its actions. The agent passes the message to the
    /// ``UserActionHandler`` or, without one, to the reception handler again. With ``UserAction/background(_:)`` the
    /// program's state does not change.
    case opened(UserAction)
    /// The user removed the notification. The message is done with ``FetchResult/noData``, unless the agent called the
    /// handler.
    case dismissed
    /// The notification vanished by itself, and the user cannot open it any more. The message is done as with
    /// ``dismissed``. A notification that is still in a list, where the user can open it, is not expired.
    case expired
    /// The notification vanished without the user, and the presenter cannot show it for now: its display program ended,
    /// for example. The agent redelivers the message, unless it called the handler: to the presenter if that works by
    /// then, else to the handler.
    case unavailable
}
