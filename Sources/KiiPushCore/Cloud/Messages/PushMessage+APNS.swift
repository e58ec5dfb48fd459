extension PushMessage {
    /// The part of a message that is for APNs. It is written in camel case; what arrives has Apple's dashes.
    public struct APNS: Sendable, Hashable {
        /// Whether it is sent there. Default `true`.
        package var isEnabled: Bool
        /// Flat data of strings, numbers and Booleans, merged over the message's. Default: none.
        public var data: JSONValue?
        /// What the user reads. Default: nothing.
        public var alert: Alert?
        /// The sound's name, `default` for the system's. Default: none.
        public var sound: String?
        /// The number on the app's icon; 0 removes it. Default: left as it is.
        public var badge: Int?
        /// Whether the app is woken up (`content-available`). Default: not sent.
        public var contentAvailable: Bool?
        /// Whether an extension may change it before it is shown (`mutable-content`). Default: not sent.
        public var mutableContent: Bool?
        /// The category, which decides about the buttons. Default: none.
        public var category: String?

        /// Makes a part; set the rest on it.
        public init(isEnabled: Bool = true, data: JSONValue? = nil, alert: Alert? = nil) {
            (self.isEnabled, self.data, self.alert) = (isEnabled, data, alert)
        }
    }

    /// What an APNs notification says.
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
        /// What is put into that text (`loc-args`).
        public var locArgs: [String]?
        /// The name of the image shown at launch (`launch-image`).
        public var launchImage: String?

        /// Makes an alert; set the rest on it.
        public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
            (self.title, self.subtitle, self.body) = (title, subtitle, body)
        }
    }
}
