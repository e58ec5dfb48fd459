/// Handles the user's reaction to a notification that was presented.
///
/// A handler conforms to it besides one of the forms of ``NotificationHandler``. Without it, the reception handler is called
/// once more: with ``DeliveryContext/userAction`` set and, unless the action is one for the background, in
/// ``LifecycleState/inactive`` and with ``DeliveryContext/isUserOpened`` set.
///
/// - Source: Kii's "Reception Handler" page: "the handler might be called multiple times and a user action might call
///   the user action handler"; UIKit's
///   `application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)`.
public protocol UserActionHandler: Sendable {
    /// The user opened the notification that showed `message`, or chose one of its actions.
    ///
    /// Called as ``RemoteNotificationHandler`` is, with the same rules for the answer: what fails is tried again.
    ///
    /// - Parameters:
    ///   - action: what the user chose.
    ///   - message: the message that was shown.
    ///   - context: which attempt this is, and until when an answer counts.
    ///   - completion: takes the answer, once, within 30 seconds.
    func handleAction(
        _ action: UserAction, for message: ReceivedMessage, context: DeliveryContext,
        completionHandler completion: FetchCompletion
    )
}
