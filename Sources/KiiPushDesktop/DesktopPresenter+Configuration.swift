public import KiiPushCore

extension DesktopPresenter {
    /// How notifications look and sound, and which actions they offer.
    public struct Configuration: Sendable {
        /// The program's name for the user. It is the title of an alert that has none.
        public var applicationName: String
        /// The icon: a name of the icon theme, or the absolute path of a file. Default: none.
        public var icon: String?
        /// The name of the program's desktop entry, without `.desktop`; some desktops group and configure notifications by it.
        /// None groups them by `thread-id`, for which the notification service has no word.
        /// Default: none.
        public var desktopEntry: String?
        /// The categories that payloads may name. Default: none.
        public var categories: [NotificationCategory] = []
        /// The title of the View action. Default: `View`.
        public var viewTitle = "View"
        /// The program's own text for a key (`loc-key`, `title-loc-key`, `subtitle-loc-key`, `action-loc-key`) with its
        /// arguments (`loc-args` and so on). Where it says `nil`, as it does by default, the key itself is shown.
        public var localizedText: @Sendable (_ key: String, _ arguments: [String]) -> String? = { _, _ in nil }
        /// The alert of a message, as `NotificationPresenter.alert(for:)`: makes an alert from the data of messages
        /// without one, such as those of Kii's own cloud. Default: the alert of the payload's `aps`.
        public var alert: @Sendable (ReceivedMessage) -> NotificationAlert? = { $0.content?.alert }
        /// A message's collapse ID. A notification replaces another on the screen with the same ID, of the same
        /// installation, and the replaced message is done without data. To Apple the ID is a header of the request,
        /// `apns-collapse-id`; no payload carries it, and Kii's calls have no word for it. A program whose messages supersede
        /// each other takes it from a key of its own. Default: none; every message has its own notification.
        public var collapseID: @Sendable (ReceivedMessage) -> String? = { _ in nil }
        /// How long a notification stays, in milliseconds precision; zero means until the user reacts. Default `nil`: as
        /// long as the service likes, if it keeps notifications in a list, and until the user reacts otherwise.
        public var displayTime: Duration?
        /// How many are shown at once; further ones are shown as others go. At least 1. Default 20.
        public var maximumShown = 20
        /// The address of the bus. Default `nil`: that of the session, which `DBUS_SESSION_BUS_ADDRESS` names, or
        /// `$XDG_RUNTIME_DIR/bus`.
        package var busAddress: String?
        /// How long a call may take.
        package var callTimeout: Duration = .seconds(5)
        /// How long nothing is tried after a failure.
        package var failurePause: Duration = .seconds(5)
        /// How long another service may take to come when one has ended.
        package var patience: Duration = .seconds(10)

        /// The defaults for a program's name.
        public init(applicationName: String) { self.applicationName = applicationName }
    }
}

/// Actions that are offered on notifications whose payload names them by `category`.
///
/// - Source: the shape of `UNNotificationCategory`.
public struct NotificationCategory: Sendable, Hashable {
    /// The name in the payload.
    public var identifier: String
    /// What is offered, in this order.
    public var actions: [NotificationAction]

    /// Makes a category from its parts.
    public init(identifier: String, actions: [NotificationAction]) {
        self.identifier = identifier
        self.actions = actions
    }
}

/// Something that the user can do with a notification.
///
/// - Source: the shape of `UNNotificationAction`.
public struct NotificationAction: Sendable, Hashable {
    /// The value of `UserAction.custom(_:)` or `UserAction.background(_:)` when the user chooses the action. Not empty.
    public var identifier: String
    /// The text on the button.
    public var title: String
    /// Whether the program comes to the foreground for it; otherwise the user chooses `UserAction.background(_:)`.
    /// Default: it does.
    ///
    /// - Source: `UNNotificationActionOptions.foreground`.
    public var isForeground: Bool

    /// Makes an action from its parts.
    public init(identifier: String, title: String, isForeground: Bool = true) {
        self.identifier = identifier
        self.title = title
        self.isForeground = isForeground
    }
}
