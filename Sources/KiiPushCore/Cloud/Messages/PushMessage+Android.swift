extension PushMessage {
    /// The part of a message that is for GCM or for FCM.
    ///
    /// - Source: Kii's reference for GCM, and for the data and the notification of FCM. FCM's other fields are described
    ///   in its guide for Android, and written here as those of GCM, since their reference was not found.
    public struct AndroidPart: Sendable, Hashable {
        /// Whether it is sent there. Default `true`.
        package var isEnabled: Bool
        /// Flat data merged over the message's; strings only. Default: none.
        public var data: JSONValue?
        /// What Android shows by itself. Default: nothing.
        public var notification: AndroidNotification?
        /// Messages with the same key replace each other while the device is away. Default: none.
        public var collapseKey: String?
        /// Whether it waits while the device is idle; with GCM alone. Default: not sent.
        package var delayWhileIdle: Bool?
        /// How long it is kept for a device that is away; whole seconds. Needs a collapse key. Default: not sent, and
        /// FCM keeps it for 4 weeks.
        public var timeToLive: Duration?
        /// The only package that may get it. Default: not sent.
        public var restrictedPackageName: String?
        /// Whether it is only checked and not delivered; with GCM alone, and not together with APNs. Default: not sent.
        public var dryRun: Bool?

        /// Makes a part; set the rest on it.
        public init(isEnabled: Bool = true, data: JSONValue? = nil, notification: AndroidNotification? = nil) {
            (self.isEnabled, self.data, self.notification) = (isEnabled, data, notification)
        }
    }

    /// What Android shows by itself, with Kii's own names for the fields.
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

        /// Makes a notification; set the rest on it.
        public init(title: String? = nil, body: String? = nil) { (self.title, self.body) = (title, body) }
    }
}
