/// The reason why the program was started. If a push started it, `LaunchOptions.current` of `KiiPushActivation` has the
/// message.
///
/// - Source: `launchOptions` of UIKit's `application(_:didFinishLaunchingWithOptions:)`; ``remoteNotification`` is
///   `UIApplication.LaunchOptionsKey.remoteNotification`.
public struct LaunchOptions: Sendable, Hashable {
    /// The message that started the program; `nil` if something else did.
    public var remoteNotification: ReceivedMessage?
    /// The message's number, as in ``DeliveryContext/messageID``. The message also reaches the reception handler, in
    /// any state of the program. `nil` if unknown.
    public var messageID: Int64?
    /// The ID of the installation that received the message, as in ``DeliveryContext/installationID``. Every inbox
    /// counts its own numbers, so a program with several inboxes sets this too. `nil` if unknown; then only the number
    /// counts.
    public var installationID: String?
    /// The user's choice on the message's notification, if the choice started the program. `nil` if the message itself
    /// did, without a user.
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
