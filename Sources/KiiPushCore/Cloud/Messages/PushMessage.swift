/// A message that is to be sent to a topic or to a user.
///
/// ```swift
/// var message = PushMessage(data: ["msg": "Dinner is ready", "table": 4])
/// message.sendWhen = true
/// message.apns = .init(alert: .init(body: "Dinner is ready"))
/// ```
///
/// A flag that is `nil` is left out, and the cloud's default applies.
///
/// - Source: `application/vnd.kii.SendPushMessageRequest+json`
public struct PushMessage: Sendable, Hashable {
    /// What all networks deliver: a flat JSON object, whose values are no objects and no arrays.
    ///
    /// A network's own data is merged over it, key by key. `nil` only if each enabled network has data of its own.
    public var data: JSONValue?
    /// A text of the app's own, delivered as `type`. Default: none.
    public var pushMessageType: String?

    /// Whether installations for development get it. Kii's default: `true`.
    public var sendToDevelopment: Bool?
    /// Whether installations for production get it. Kii's default: `true`.
    public var sendToProduction: Bool?
    /// Whether the app's ID is delivered with it. Kii's default: `false`.
    public var sendAppID: Bool?
    /// Whether the sender's ID is delivered with it. Kii's default: `true`.
    public var sendSender: Bool?
    /// Whether the time of sending is delivered with it. Kii's default: `false`.
    public var sendWhen: Bool?
    /// Whether `origin` is delivered with it. Kii's default: `false`.
    public var sendOrigin: Bool?
    /// Whether the topic's scope is delivered with it. Kii's default: `true`.
    public var sendObjectScope: Bool?
    /// Whether the topic's ID is delivered with it. Kii's default: `true`; without it a receiver takes the message for
    /// a direct push.
    public var sendTopicID: Bool?

    /// What goes out over MQTT. `nil` leaves the network out.
    public var mqtt: DataPart?
    /// What goes out over GCM. `nil` leaves the network out.
    package var gcm: AndroidPart?
    /// What goes out over FCM. `nil` leaves the network out. Where both are enabled FCM wins.
    public var fcm: AndroidPart?
    /// What goes out over APNs. `nil` leaves the network out.
    public var apns: APNS?
    /// What goes out over JPush. `nil` leaves the network out.
    public var jpush: DataPart?

    /// Makes a message.
    ///
    /// - Parameters:
    ///   - data: What all networks deliver. Default `nil`.
    ///   - mqtt: What goes out over MQTT. Default: enabled, without data of its own; the other networks are left out.
    public init(data: JSONValue? = nil, mqtt: DataPart? = DataPart()) { (self.data, self.mqtt) = (data, mqtt) }
}

extension PushMessage {
    /// The part of a message that is for MQTT or for JPush.
    public struct DataPart: Sendable, Hashable {
        /// Whether it is sent there. Default `true`.
        package var isEnabled: Bool
        /// Flat data merged over the message's; for JPush of strings, numbers and Booleans. Default: none.
        public var data: JSONValue?

        /// Makes a part.
        public init(isEnabled: Bool = true, data: JSONValue? = nil) {
            self.isEnabled = isEnabled
            self.data = data
        }
    }
}
