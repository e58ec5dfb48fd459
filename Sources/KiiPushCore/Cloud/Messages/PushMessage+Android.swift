extension PushMessage {
    /// The part of a message for FCM.
    ///
    /// - Source: Kii's reference for data and notification; Kii's guide for Android for the other fields.
    public struct AndroidPart: Sendable, Hashable {
        package var isEnabled: Bool
        /// Flat data for this network: strings only. Overrides ``PushMessage/data`` key by key. Default: none.
        public var data: JSONValue?
        /// The notification that Android shows by itself. Default: none.
        public var notification: AndroidNotification?
        /// The key of messages that replace each other while the device is offline. Default: none.
        public var collapseKey: String?
        /// The time for which the network keeps the message for an offline device, in whole seconds. Needs
        /// ``collapseKey``. Default: not sent; FCM keeps the message for 4 weeks.
        public var timeToLive: Duration?
        /// The only Android package that may receive the message. Default: not sent.
        public var restrictedPackageName: String?

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
        /// The tag of notifications that replace each other.
        public var tag: String?
        /// The icon's colour, as `#rrggbb`.
        public var color: String?
        /// The action of the intent that a tap starts.
        public var clickAction: String?

        /// Makes a notification; set the other properties afterwards.
        public init(title: String? = nil, body: String? = nil) { (self.title, self.body) = (title, body) }
    }
}
