/// A message to send to a topic or to a user.
///
/// ```swift
/// var message = PushMessage(data: ["msg": "Dinner is ready", "table": 4])
/// message.sendWhen = true
/// message.apns = .init(alert: .init(body: "Dinner is ready"))
/// ```
///
/// Flags that are `nil` are not sent; the cloud's defaults then apply.
///
/// - Source: `application/vnd.kii.SendPushMessageRequest+json`
public struct PushMessage: Sendable, Hashable {
    /// Data for all networks: a flat JSON object, without objects or arrays as values.
    ///
    /// A network's own data overrides it, key by key. May be `nil` only if each enabled network has its own data.
    public var data: JSONValue?
    /// A text of the app's own, delivered as `type`. Default: none.
    public var pushMessageType: String?

    /// Whether development installations receive the message. Kii's default: `true`.
    public var sendToDevelopment: Bool?
    /// Whether production installations receive the message. Kii's default: `true`.
    public var sendToProduction: Bool?
    /// Whether the delivered message contains the app's ID. Kii's default: `false`.
    public var sendAppID: Bool?
    /// Whether the delivered message contains the sender's ID. Kii's default: `true`.
    public var sendSender: Bool?
    /// Whether the delivered message contains the time of sending. Kii's default: `false`.
    public var sendWhen: Bool?
    /// Whether the delivered message contains `origin`. Kii's default: `false`.
    public var sendOrigin: Bool?
    /// Whether the delivered message contains the topic's scope. Kii's default: `true`.
    public var sendObjectScope: Bool?
    /// Whether the delivered message contains the topic's ID. Kii's default: `true`; without the ID a receiver treats
    /// the message as a direct push.
    public var sendTopicID: Bool?

    /// The part for MQTT. `nil` excludes the network.
    public var mqtt: DataPart?
    /// The part for GCM. `nil` excludes the network.
    package var gcm: AndroidPart?
    /// The part for FCM. `nil` excludes the network. If GCM is enabled too, FCM wins.
    public var fcm: AndroidPart?
    /// The part for APNs. `nil` excludes the network.
    public var apns: APNS?
    /// The part for JPush. `nil` excludes the network.
    public var jpush: DataPart?

    /// Makes a message.
    ///
    /// - Parameters:
    ///   - data: data for all networks. Default `nil`.
    ///   - mqtt: the part for MQTT. Default: enabled, without data of its own. The message excludes the other networks.
    public init(data: JSONValue? = nil, mqtt: DataPart? = DataPart()) { (self.data, self.mqtt) = (data, mqtt) }
}

extension PushMessage {
    /// The part of a message for MQTT or JPush.
    public struct DataPart: Sendable, Hashable {
        /// Whether the message goes to this network. Default `true`.
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
