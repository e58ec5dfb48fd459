extension PushMessage {
    /// The part of a message for APNs. Parentheses contain the names in the delivered message.
    public struct APNS: Sendable, Hashable {
        package var isEnabled: Bool
        /// Flat data for APNs: strings, numbers and Booleans. Overrides ``PushMessage/data`` key by key. Default: none.
        public var data: JSONValue?
        /// The visible notification. Default: none.
        public var alert: Alert?
        /// The sound's name; `default` is the system's sound. Default: none.
        public var sound: String?
        /// The number on the app's icon; 0 removes the number. Default: unchanged.
        public var badge: Int?
        /// Whether the message wakes the app (`content-available`). Default: not sent.
        public var contentAvailable: Bool?
        /// Whether an app extension may change the notification first (`mutable-content`). Default: not sent.
        public var mutableContent: Bool?
        /// The category, which determines the buttons. Default: none.
        public var category: String?

        /// Makes a part; set the other properties afterwards.
        public init(isEnabled: Bool = true, data: JSONValue? = nil, alert: Alert? = nil) {
            (self.isEnabled, self.data, self.alert) = (isEnabled, data, alert)
        }
    }

    /// The texts of an APNs notification.
    public struct Alert: Sendable, Hashable {
        /// The title.
        public var title: String?
        /// The second line.
        public var subtitle: String?
        /// The text.
        public var body: String?
        /// The key of the button's text in the app's strings (`action-loc-key`).
        public var actionLocKey: String?
        /// The key of the text in the app's strings (`loc-key`).
        public var locKey: String?
        /// The arguments for the text of ``locKey`` (`loc-args`).
        public var locArgs: [String]?
        /// The name of the image shown at launch (`launch-image`).
        public var launchImage: String?

        /// Makes an alert; set the other properties afterwards.
        public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
            (self.title, self.subtitle, self.body) = (title, subtitle, body)
        }
    }
}
