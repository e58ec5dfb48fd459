/// The reason why the program was started. If a push started it, `LaunchOptions.current` of `KiiPushActivation` has the
/// message.
///
/// - Source: `launchOptions` of UIKit's `application(_:didFinishLaunchingWithOptions:)`, of which
///   ``remoteNotification`` is `UIApplication.LaunchOptionsKey.remoteNotification`.
public struct LaunchOptions: Sendable, Hashable {
    /// The message that the program was started for; `nil` when it was started for another reason.
    public var remoteNotification: ReceivedMessage?
    /// That message's number, as in ``DeliveryContext/messageID``: the message reaches the reception handler too, in
    /// whatever state the program is then. `nil` when it is not known.
    public var messageID: Int64?
    /// The ID of the installation that received it, as in ``DeliveryContext/installationID``. Numbers are given anew in every
    /// inbox: a program whose agents have several says this too. `nil` when it is not known; then the number alone counts.
    public var installationID: String?
    /// What the user chose on the message's notification, if that started the program; `nil` when the message itself did,
    /// with no user about.
    public var userAction: UserAction?

    /// Makes launch options. The defaults are those of a program that was started by hand, or with the machine.
    public init(
        remoteNotification: ReceivedMessage? = nil, messageID: Int64? = nil, userAction: UserAction? = nil,
        installationID: String? = nil
    ) {
        self.remoteNotification = remoteNotification
        self.messageID = messageID
        self.installationID = installationID
        self.userAction = userAction
    }

    /// Whether this is the message that the program was started for.
    func names(_ key: NotificationRequest.Key) -> Bool {
        self.messageID == key.messageID && (self.installationID ?? key.installationID) == key.installationID
    }
}
