/// Shows notifications to the user: the part of the system that on iOS draws banners and keeps Notification Center.
///
/// An agent that has a presenter gives it the messages that arrive with an alert while the program is in the background
/// (``LifecycleState/background``); in the foreground nothing is presented. An agent without one behaves as if its
/// presenter were always ``PresentationOutcome/unavailable``.
///
/// A message whose handler was not called rests in the inbox as *presented* until its request is answered
/// (``NotificationRequest/respond(_:)``), also across restarts: when the agent runs in another process, every message that
/// still rests comes to ``present(_:)`` once more, with ``NotificationRequest/wasPresentedBefore`` set; but the one that the
/// program was launched for (``LaunchOptions/messageID``) goes to its handler.
public protocol NotificationPresenter: Sendable {
    /// Shows a notification, and keeps `request` to answer it when the user reacts.
    ///
    /// Called on threads of the library, never on the main actor or the cooperative pool, so it may block; but it should
    /// return within 5 s, as it takes the place of a handler meanwhile. If it has not returned after 30 s, another thread
    /// calls the handler with the message (its first attempt), and what this returns does not matter any more; its thread is
    /// lost until then. That is done for 64 calls at once, those of handlers included; a further one keeps its place, and its
    /// source waits. Calls for different messages may overlap (as many at once as handlers may run); those of one source come
    /// one after the other, in the order of reception, as long as they return in time. The agent keeps the badge itself.
    ///
    /// - Parameter request: the message, and what the user's reaction is told to. It may be answered at any time from any
    ///   thread, also before this returns.
    /// - Returns: whether it is shown. A presenter that cannot show anything at all (there is no session bus) says
    ///   ``PresentationOutcome/unavailable`` each time, and reports the reason once by its own means.
    func present(_ request: NotificationRequest) -> PresentationOutcome

    /// What is shown for a message, in place of the alert that the payload carries.
    ///
    /// Kii's own cloud sends no `aps` over MQTT, and so no alert. A presenter may make one from the message's data: a message
    /// without `aps` counts as `content-available`, so in the background the handler is called and the alert presented.
    /// Asked once a message that arrives in the background, and once more when it is presented again after a restart, on the
    /// threads of ``present(_:)``; it should return at once.
    ///
    /// - Returns: `nil`, or an alert without any text, for none. Default: the alert of the `aps`.
    func alert(for message: ReceivedMessage) -> NotificationAlert?
}

extension NotificationPresenter {
    /// The alert of the payload's `aps`.
    public func alert(for message: ReceivedMessage) -> NotificationAlert? { message.content?.alert }
}

/// What came of showing a notification.
public enum PresentationOutcome: Sendable, Hashable {
    /// It is shown, or will be; its request will be answered.
    case presented
    /// It cannot be shown. The handler is called with the message at once, unless it is called anyway. An answer to the
    /// request from then on does not count.
    case unavailable
}

/// How a notification that was shown came to its end.
public enum PresentationResponse: Sendable, Hashable {
    /// The user chose it, or one of its actions: the message is handed to the program, by ``UserActionHandler`` or once
    /// more by its reception handler. With ``UserAction/background(_:)`` the program stays where it is.
    case opened(UserAction)
    /// The user took it away. The message is done, without data (``FetchResult/noData``), unless the handler was called.
    case dismissed
    /// It went away by itself and cannot be opened any more. Done as with ``dismissed``. A banner that goes away while the
    /// notification stays in a list that the user can open it from is not expired.
    case expired
    /// It went away through nothing that the user did, and cannot be shown for now: what showed it has ended, for example.
    /// The message is delivered again, unless the handler was called: it is presented if that can be done by then, and
    /// handed to the handler otherwise.
    case unavailable
}
