extension PushMessage {
    /// The part of a message for GCM or FCM.
    ///
    /// - Source: Kii's reference for GCM, and for the data and the notification of FCM. Kii's guide for Android
    ///   describes FCM's other fields. This library writes them as for GCM, since their reference was not found.
    public struct AndroidPart: Sendable, Hashable {
        /// Whether the message goes to this network. Default `true`.
        package var isEnabled: Bool
        /// Flat data merged over the message's; strings only. Default: none.
        public var data: JSONValue?
        /// The notification that Android shows by itself. Default: none.
        public var notification: AndroidNotification?
        /// Messages with the same key replace each other while the device is away. Default: none.
        public var collapseKey: String?
        /// Whether the message waits while the device is idle; GCM only. Default: not sent.
        package var delayWhileIdle: Bool?
        /// The time for which the network keeps the message for an absent device; whole seconds. Needs a collapse key.
        /// Default: not sent, and FCM keeps the message for 4 weeks.
        public var timeToLive: Duration?
        /// The only Android package that may receive the message. Default: not sent.
        public var restrictedPackageName: String?
        /// Whether the network only checks the message and does not deliver it; GCM only, and not together with APNs.
        /// Default: not sent.
        public var dryRun: Bool?

        /// Makes a part; set the other properties afterwards.
        public init(isEnabled: Bool = true, data: JSONValue? = nil, notification: AndroidNotification? = nil) {
            (self.isEnabled, self.data, self.notification) = (isEnabled, data, notification)
        }
    }

    /// The notification that Android shows by itself, with Kii's names for the fields.
    public struct AndroidNotification: Sendable, Hashable {
        /// The title.
        public var title: String?
        /// The text.
        public var body: String?
        /// The icon's name.
        public var icon: String?
        /// The sound's name.
        public var sound: String?
        /// Notifications with the same tag replace each other.
        public var tag: String?
        /// The icon's colour, as `#rrggbb`.
        public var color: String?
        /// The action of the intent that a tap starts.
        public var clickAction: String?

        /// Makes a notification; set the other properties afterwards.
        public init(title: String? = nil, body: String? = nil) { (self.title, self.body) = (title, body) }
    }
}
