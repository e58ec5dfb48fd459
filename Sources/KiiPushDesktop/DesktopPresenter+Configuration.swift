public import KiiPushCore

extension DesktopPresenter {
    /// The look, sound and actions of notifications.
    public struct Configuration: Sendable {
        /// The program's name for the user, and the title of an alert without one.
        public var applicationName: String
        /// The icon: a name of the icon theme, or the absolute path of a file. Default: none.
        public var icon: String?
        /// The name of the program's desktop entry, without `.desktop`; some desktops group and configure notifications
        /// by it. No desktop groups them by `thread-id`, which the notification service does not know. Default: none.
        public var desktopEntry: String?
        /// The categories that payloads may name. Default: none.
        public var categories: [NotificationCategory] = []
        /// The title of the View action. Default: `View`.
        public var viewTitle = "View"
        /// The program's text for a key (`loc-key`, `title-loc-key`, `subtitle-loc-key`, `action-loc-key`) and its
        /// arguments (`loc-args` and so on). `nil` shows the key itself. Default: always `nil`.
        public var localizedText: @Sendable (_ key: String, _ arguments: [String]) -> String? = { _, _ in nil }
        /// The alert of a message, as in `NotificationPresenter.alert(for:)`. Set it to make an alert from a message's
        /// data if its payload has no alert, as with Kii's own cloud. Default: the alert of the payload's `aps`.
        public var alert: @Sendable (ReceivedMessage) -> NotificationAlert? = { $0.content?.alert }
        /// A message's collapse ID. A notification replaces one on the screen with the same ID and installation, and
        /// the replaced message ends without data. For Apple the ID is a request header, `apns-collapse-id`; payloads
        /// do not carry it, and Kii's calls have no parameter for it. A program whose messages supersede each other
        /// takes it from a key of its own. Default: none; every message has its own notification.
        public var collapseID: @Sendable (ReceivedMessage) -> String? = { _ in nil }
        /// The time that a notification stays, rounded up to milliseconds; zero means until the user reacts. Default
        /// `nil`: the service's default if it keeps a list of notifications, otherwise until the user reacts.
        public var displayTime: Duration?
        /// The most notifications shown at once; others wait for a place. At least 1. Default 20.
        public var maximumShown = 20
        /// The address of the bus. Default `nil`: the session bus, at `DBUS_SESSION_BUS_ADDRESS` or
        /// `$XDG_RUNTIME_DIR/bus`.
        package var busAddress: String?
        /// The longest wait for an answer. Default 5 s.
        package var callTimeout: Duration = .seconds(5)
        /// The pause after a failure before the next attempt. Default 5 s.
        package var failurePause: Duration = .seconds(5)
        /// The longest wait for a new service when one has ended. Default 10 s.
        package var patience: Duration = .seconds(10)

        /// Creates a configuration with defaults.
        public init(applicationName: String) { self.applicationName = applicationName }
    }
}

/// Actions for notifications whose payload names this `category`.
///
/// - Source: the shape of `UNNotificationCategory`.
public struct NotificationCategory: Sendable, Hashable {
    /// The payload's name for the category.
    public var identifier: String
    /// The actions, in the order shown.
    public var actions: [NotificationAction]

    /// Creates a category.
    public init(identifier: String, actions: [NotificationAction]) {
        self.identifier = identifier
        self.actions = actions
    }
}

/// An action that the user can choose on a notification.
///
/// - Source: the shape of `UNNotificationAction`.
public struct NotificationAction: Sendable, Hashable {
    /// The value of `UserAction.custom(_:)` or `UserAction.background(_:)` when the user chooses the action. Not empty.
    public var identifier: String
    /// The text on the button.
    public var title: String
    /// Whether the action brings the program to the foreground; otherwise the choice is `UserAction.background(_:)`.
    /// Default: `true`.
    ///
    /// - Source: `UNNotificationActionOptions.foreground`.
    public var isForeground: Bool

    /// Creates an action.
    public init(identifier: String, title: String, isForeground: Bool = true) {
        self.identifier = identifier
        self.title = title
        self.isForeground = isForeground
    }
}
