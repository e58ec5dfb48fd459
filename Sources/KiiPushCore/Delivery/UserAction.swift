/// The user's choice on a notification.
///
/// - Source: the action identifiers of UIKit's `application(_:handleActionWithIdentifier:forRemoteNotification:)`, and
///   `UIUserNotificationActivationMode`.
public enum UserAction: Sendable, Hashable {
    /// The notification itself, or its View button.
    case open
    /// The action with this identifier, among the actions of the notification's category. Never empty.
    case custom(String)
    /// The action with this identifier, which the program handles in the background. The program does not come to the
    /// foreground, and the message does not count as opened. Never empty.
    case background(String)

    /// The action's identifier; `nil` for ``open``, which has none.
    public var identifier: String? {
        switch self {
        case .open: nil
        case .custom(let identifier), .background(let identifier): identifier
        }
    }

    /// Whether the action brings the program to the foreground.
    public var opensProgram: Bool {
        switch self {
        case .open, .custom: true
        case .background: false
        }
    }
}

extension UserAction {
    /// Marks the identifier of a background action. No category names an action with this control character.
    private static let backgroundMark: Character = "\u{1F}"

    /// The choice as the inbox and the control socket write it: empty for ``open``, else the action's identifier.
    package var stored: String {
        switch self {
        case .open: ""
        case .custom(let identifier): identifier
        case .background(let identifier): "\(Self.backgroundMark)\(identifier)"
        }
    }

    package init(stored: String) {
        if stored.isEmpty {
            self = .open
        } else if stored.first == Self.backgroundMark {
            self = .background(String(stored.dropFirst()))
        } else {
            self = .custom(stored)
        }
    }
}

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
    /// Called as ``RemoteNotificationHandler`` is, with the same rules for the answer: failed attempts are retried.
    ///
    /// - Parameters:
    ///   - action: the user's choice.
    ///   - message: the message that was shown.
    ///   - context: which attempt this is, and until when an answer counts.
    ///   - completion: takes the answer, once, within 30 seconds.
    func handleAction(
        _ action: UserAction, for message: ReceivedMessage, context: DeliveryContext,
        completionHandler completion: FetchCompletion
    )
}

/// The user's choice on the notification of a message.
package struct DeliveryOpening: Sendable, Hashable {
    /// A store that still has the message needs only its numbers and the choice. A store that has dropped the message
    /// restores it from this copy.
    package var message: StoredMessage
    package var action: UserAction
    /// Whether the store has recorded the choice already, while the message was in hand.
    package var isRecorded = false

    package init(_ message: StoredMessage, action: UserAction) {
        self.message = message
        self.message.openedBy = action
        self.message.attempts = 0
        self.message.crashes = 0
        self.action = action
    }
}

/// Takes users' reactions to notifications, on any thread. Each method returns false when it is too late in this
/// process: the next process shows the message again.
package protocol ReactionTaker: AnyObject, Sendable {
    /// The user opened a notification: its message is delivered (again), by the next run if its agent does not run now.
    func opened(_ opening: DeliveryOpening) -> Bool
    /// A notification is gone unopened, and no handler was called: its message is done, without data.
    func dismissed(_ sequence: Int64, installation: Int64) -> Bool
    /// A presenter lost a notification, and no handler was called: its message is delivered again.
    func withdrawn(_ sequence: Int64, installation: Int64) -> Bool
}
