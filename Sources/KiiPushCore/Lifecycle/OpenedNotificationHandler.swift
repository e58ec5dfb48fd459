/// Is told when the program comes to be active because the user opened a notification.
///
/// A handler conforms to it besides one of the forms of ``NotificationHandler``. Here is the place to open a window that
/// shows what the message is about; what is in the message is for the reception handler, which is called as well.
///
/// - Source: `openViewFromNotification:` of the launch detection document.
public protocol OpenedNotificationHandler: Sendable {
    /// The user opened the notification of this message, and the program is active.
    ///
    /// Called once for an opening: by ``AgentLifecycle/didBecomeActive()``, on its thread and before it returns; if the
    /// program is active when the message is handed to it, on a thread of the library's, just before the handler; or, if
    /// the program was launched by the opening and is active before it has an agent, by the initialiser of its first
    /// ``PushAgent``, on that thread and before it returns. A process that ends before the message is done leaves it to the
    /// next one, which is told again. Not called for a notification that was opened when the program went to the foreground
    /// by other means meanwhile, or stayed in the background, and for the earlier one of two that are opened before the
    /// program is active.
    ///
    /// - Parameter message: the message that was shown.
    func openedFromNotification(_ message: ReceivedMessage)
}
