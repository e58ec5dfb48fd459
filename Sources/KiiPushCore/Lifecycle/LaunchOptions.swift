/// The reason why the program was started. `LaunchOptions.current` of `KiiPushActivation` has the message if a push
/// started the program.
///
/// - Source: `launchOptions` of UIKit's `application(_:didFinishLaunchingWithOptions:)`.
public struct LaunchOptions: Sendable, Hashable {
    /// The message that started the program; `nil` if something else did. The agent also passes this message to its
    /// handler, in any state of the program.
    public var remoteNotification: ReceivedMessage?
    /// The message's number, as in ``DeliveryContext/messageID``; `nil` if unknown.
    public var messageID: Int64?
    /// The installation that received the message, as in ``DeliveryContext/installationID``; `nil` matches any. A
    /// program with several inboxes sets this ID, since each inbox numbers its own messages.
    public var installationID: String?
    /// The user's choice on the message's notification, if that choice started the program; else `nil`.
    public var userAction: UserAction?

    /// Makes launch options. The defaults describe a program that a person or the boot started.
    public init(
        remoteNotification: ReceivedMessage? = nil, messageID: Int64? = nil, userAction: UserAction? = nil,
        installationID: String? = nil
    ) {
        self.remoteNotification = remoteNotification
        self.messageID = messageID
        self.installationID = installationID
        self.userAction = userAction
    }

    func names(_ key: NotificationRequest.Key) -> Bool {
        self.messageID == key.messageID && (self.installationID ?? key.installationID) == key.installationID
    }
}
