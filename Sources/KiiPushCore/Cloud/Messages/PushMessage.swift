/// A message to send to a topic or to a user.
///
/// ```swift
/// var message = PushMessage(data: ["msg": "Dinner is ready", "table": 4])
/// message.sendWhen = true
/// message.apns = .init(alert: .init(body: "Dinner is ready"))
/// ```
///
/// A request omits flags that are `nil`; the cloud's defaults then apply.
///
/// - Source: `application/vnd.kii.SendPushMessageRequest+json`
public struct PushMessage: Sendable, Hashable {
    /// Data for all networks: a flat JSON object, without objects or arrays as values.
    ///
    /// A network's own data override these data key by key. May be `nil` if each enabled network has its own data, a
    /// notification or (APNs) another `aps` member such as `badge`.
    public var data: JSONValue?
    /// A text that the app chooses, delivered as `type`. Default: none.
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
    /// Whether the delivered message contains the topic's ID. Kii's default: `true`. A message without the ID looks
    /// like a direct push.
    public var sendTopicID: Bool?

    /// The part for MQTT. `nil` excludes the network.
    public var mqtt: DataPart?
    /// The part for FCM. `nil` excludes the network.
    public var fcm: AndroidPart?
    /// The part for APNs. `nil` excludes the network.
    public var apns: APNS?
    /// The part for JPush. `nil` excludes the network.
    public var jpush: DataPart?

    /// Makes a message, by default for MQTT alone. Set the other networks' parts afterwards.
    public init(data: JSONValue? = nil, mqtt: DataPart? = DataPart()) { (self.data, self.mqtt) = (data, mqtt) }
}

extension PushMessage {
    /// The part of a message for MQTT or JPush.
    public struct DataPart: Sendable, Hashable {
        package var isEnabled: Bool
        /// Flat data for this network. Overrides ``PushMessage/data`` key by key. JPush allows strings, numbers and
        /// Booleans. Default: none.
        public var data: JSONValue?

        /// Makes a part.
        public init(isEnabled: Bool = true, data: JSONValue? = nil) {
            self.isEnabled = isEnabled
            self.data = data
        }
    }
}
