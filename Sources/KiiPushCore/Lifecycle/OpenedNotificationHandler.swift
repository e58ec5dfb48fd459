/// Called when the program becomes active because the user opened a notification.
///
/// A handler conforms to it besides one of the forms of ``NotificationHandler``. It opens a window for the message's
/// subject. The reception handler, which the agent also calls, processes the message's data.
///
/// - Source: `openViewFromNotification:` of the launch detection document.
public protocol OpenedNotificationHandler: Sendable {
    /// The user opened the notification of this message, and the program is active.
    ///
    /// Called once for an opening:
    ///
    /// - usually by ``AgentLifecycle/didBecomeActive()``, on its thread and before it returns;
    /// - if the program is already active at delivery, on a thread of the library, just before the handler;
    /// - if the opening launched the program, and it was active before it had an agent, by the initialiser of its first
    ///   ``PushAgent``. That call comes on the initialiser's thread, before it returns.
    ///
    /// If the process ends before the message is done, the next process calls this again.
    ///
    /// Not called if the program came to the foreground by other means meanwhile, or stayed in the background. If the
    /// user opens two notifications before the program is active, only the later one counts.
    ///
    /// - Parameter message: the message that was shown.
    func openedFromNotification(_ message: ReceivedMessage)
}
