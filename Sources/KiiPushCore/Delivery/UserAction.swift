/// The user's choice on a notification.
///
/// - Source: the action identifiers of UIKit's `application(_:handleActionWithIdentifier:forRemoteNotification:)`.
public enum UserAction: Sendable, Hashable {
    /// The notification itself, or its View button.
    case open
    /// An action of the notification's category, by its identifier, which must not be empty.
    case custom(String)
    /// An action that the program handles in the background, by its identifier, which must not be empty. The program
    /// does not come to the foreground, and the message does not count as opened.
    case background(String)

    /// The action's identifier; `nil` for ``open``.
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
    /// Begins the ``stored`` form of a background action. No category's action begins with this control character.
    private static let backgroundMark: Character = "\u{1F}"

    /// The form in the inbox and on the control socket; empty for ``open``.
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

/// Handles the user's reaction to a notification.
///
/// A handler's type may conform to this protocol besides one for pushes, such as ``RemoteNotificationHandler``. If it
/// does not, the agent calls the handler for pushes with ``DeliveryContext/userAction`` set; this handler may have had
/// the message before. Unless the action is one for the background, ``DeliveryContext/isUserOpened`` is then true, and
/// the state is ``LifecycleState/inactive``.
///
/// - Source: Kii's "Reception Handler" page; UIKit's
///   `application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)`.
public protocol UserActionHandler: Sendable {
    /// The user opened the notification that showed `message`, or chose one of its actions.
    ///
    /// Called as ``RemoteNotificationHandler`` is, with the same rules for the answer: failed attempts are retried.
    func handleAction(
        _ action: UserAction, for message: ReceivedMessage, context: DeliveryContext,
        completionHandler completion: FetchCompletion
    )
}

/// A reaction to a notification, which applies after the attempt that is under way.
package enum Reaction: Sendable {
    /// The user opened the notification. The message is delivered (again), now or in the agent's next run. A store that
    /// has dropped the message restores it from this copy.
    case opened(StoredMessage, by: UserAction)
    /// The notification is gone, unopened, and no handler was called. The message becomes done, with
    /// ``FetchResult/noData``.
    case dismissed
    /// The presenter lost the notification, and no handler was called. The message is delivered again.
    case withdrawn
}
