/// What the user chose on a notification that was shown.
///
/// - Source: the action identifiers of UIKit's `application(_:handleActionWithIdentifier:forRemoteNotification:)`, and
///   `UIUserNotificationActivationMode`.
public enum UserAction: Sendable, Hashable {
    /// The notification itself, or its View button.
    case open
    /// The action with this identifier, of those that the notification's category offers. Never empty.
    case custom(String)
    /// The action with this identifier, which the program handles where it is: it does not come to the foreground, and the
    /// message does not count as opened. Never empty.
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
    /// Marks the identifier of a background action. A control character, which no category names an action with.
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
