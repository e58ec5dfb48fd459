public import KiiPushCore

extension DesktopPresenter {
    /// The look and actions of notifications, and how many are on the screen.
    public struct Configuration: Sendable {
        /// The program's name as the user knows it. It is the title of an alert without a title, unless the
        /// service shows only titles: the title is then the alert's body.
        public var applicationName: String
        /// The icon: a name of the icon theme, or the absolute path of a file. Default: no icon.
        public var icon: String?
        /// The name of the program's desktop entry, without `.desktop`. Some desktops group and configure notifications
        /// by this name. The payload's `thread-id` has no effect. Default: none.
        public var desktopEntry: String?
        /// The categories that payloads may name. Default: none.
        public var categories: [NotificationCategory] = []
        /// The title of the View action if the payload has no `action-loc-key`. Default: `View`.
        public var viewTitle = "View"
        /// Returns the program's text for a localization key and its arguments. The keys come from the payload's
        /// `loc-key`, `title-loc-key`, `subtitle-loc-key` and `action-loc-key`; the arguments from `loc-args` and so
        /// on. If the closure returns `nil`, the notification shows the key. Default: always `nil`.
        public var localizedText: @Sendable (_ key: String, _ arguments: [String]) -> String? = { _, _ in nil }
        /// Returns the alert of a message. Default: the alert of the payload's `aps`. Set the closure to make an alert
        /// from a message's data: over MQTT, payloads of Kii's own cloud have no `aps`.
        public var alert: @Sendable (ReceivedMessage) -> NotificationAlert? = { $0.content?.alert }
        /// Returns a message's collapse ID. A notification replaces another on the screen if both have the same
        /// collapse ID and installation. The replaced message then ends as `PresentationResponse.expired`. Payloads
        /// carry no collapse ID: Apple's is a request header, `apns-collapse-id`, and Kii's calls have no parameter for
        /// it. A program can read the ID from a key of its own payloads. Default: `nil`, so that no notification
        /// replaces another.
        public var collapseID: @Sendable (ReceivedMessage) -> String? = { _ in nil }
        /// The time that a notification stays on the screen, rounded up to milliseconds. Zero means until the user
        /// reacts. Default: `nil`, the service's own default if the service keeps a list of notifications, otherwise
        /// zero.
        public var displayTime: Duration?
        /// The most notifications shown at once. Others wait until a shown notification ends. At least 1. Default: 20.
        public var maximumShown = 20
        /// The address of the bus. Default: `nil`, the session bus, at `DBUS_SESSION_BUS_ADDRESS` or
        /// `$XDG_RUNTIME_DIR/bus`.
        package var busAddress: String?
        package var callTimeout: Duration = .seconds(5)
        package var failurePause: Duration = .seconds(5)
        /// The longest wait for a new service after the old service ended. Default: 10 s.
        package var patience: Duration = .seconds(10)

        /// Creates a configuration with defaults.
        public init(applicationName: String) { self.applicationName = applicationName }
    }
}

/// Actions for notifications whose payload names this `category`.
///
/// - Source: the shape of `UNNotificationCategory`.
public struct NotificationCategory: Sendable, Hashable {
    /// The value of `category` in the payload.
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
    /// The value in `UserAction.custom(_:)` or `UserAction.background(_:)` if the user chooses the action. Must not be
    /// empty.
    public var identifier: String
    /// The text on the button.
    public var title: String
    /// Whether the action brings the program to the foreground. If `false`, the user's choice arrives as
    /// `UserAction.background(_:)`. Default: `true`.
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
