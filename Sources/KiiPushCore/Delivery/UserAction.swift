/// What the user chose on a notification that was shown.
///
/// - Source: the action identifiers of UIKit's `application(_:handleActionWithIdentifier:forRemoteNotification:)`.
public enum UserAction: Sendable, Hashable {
    /// The notification itself, or its View button.
    case open
    /// The action with this identifier, of those that the notification's category offers. Never empty.
    case custom(String)

    /// The action's identifier; `nil` for ``open``, which has none.
    public var identifier: String? {
        switch self {
        case .open: nil
        case .custom(let identifier): identifier
        }
    }
}
