/// Called when the program becomes active because the user opened a notification.
///
/// A type conforms to this protocol and to one of the forms of ``NotificationHandler``. It opens a window for the
/// message's subject; the reception handler processes the message's data.
///
/// - Source: `openViewFromNotification:` of Kii's launch detection document.
public protocol OpenedNotificationHandler: Sendable {
    /// The user opened the notification of this message, and the program is active. Called once:
    ///
    /// - usually by ``AgentLifecycle/didBecomeActive()``, on the thread of that call and before it returns;
    /// - if the program is already active at delivery, on a thread of the library, just before the handler;
    /// - if the notification launched the program, and the program was active before it had an agent, by the
    ///   initialiser of the first ``PushAgent``.
    ///
    /// If the process ends before the message is done, the next process calls this function again. If the user opens
    /// two notifications before the program is active, only the later one counts.
    ///
    /// Not called if the program stays in the background. Also not called if the program goes to the background before
    /// it becomes active, and later comes to the foreground without a notification.
    func openedFromNotification(_ message: ReceivedMessage)
}
