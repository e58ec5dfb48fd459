/// A broker's address and the credentials for one installation. A port is `nil` when the broker does not offer it.
public struct MQTTEndpoint: Sendable, Hashable {
    /// The installation that the credentials are for.
    public var installationID: String
    /// The broker's host name or address.
    public var host: String
    /// The port for MQTT over plain TCP.
    public var portTCP: UInt16?
    /// The port for MQTT over TLS.
    public var portSSL: UInt16?
    /// The port for MQTT over WebSocket.
    public var portWS: UInt16?
    /// The port for MQTT over WebSocket and TLS.
    public var portWSS: UInt16?
    /// The MQTT topic on which all pushes arrive, and also the MQTT client ID. Unrelated to ``Topic``.
    ///
    /// 1 to 1,024 bytes, without wildcards and U+0000, and without `$` at the beginning. The library refuses an answer
    /// with any other topic.
    public var mqttTopic: String
    /// The broker's user name for this installation.
    public var username: String
    /// The broker's password for this installation.
    public var password: Secret
    /// The life of the topic in whole seconds, counted from the answer. `nil` when the answer has none.
    ///
    /// Kii's reference says to request a new endpoint when the time is up. Live answers have 2147483647.
    /// - Source: field `X-MQTT-TTL` of the body, `ttl` in thing-if's answers, or else the header field `X-MQTT-TTL`.
    public var timeToLive: Duration?

    package init(
        installationID: String, host: String, portTCP: UInt16?, portSSL: UInt16?, mqttTopic: String,
        username: String, password: Secret, timeToLive: Duration? = nil
    ) {
        self.installationID = installationID
        self.host = host
        self.portTCP = portTCP
        self.portSSL = portSSL
        self.mqttTopic = mqttTopic
        self.username = username
        self.password = password
        self.timeToLive = timeToLive
    }
}

extension MQTTEndpoint {
    static let maximumTopicBytes = 1024

    /// Refuses topics that one installation cannot have for itself. A wildcard matches other topics [MQTT-4.7.1-1], `$`
    /// begins the broker's own topics [MQTT-4.7.2-1], and MQTT cannot send U+0000 [MQTT-1.5.3-2].
    static func isUsable(topic: String) -> Bool {
        (1...self.maximumTopicBytes).contains(topic.utf8.count) && topic.utf8.first != UInt8(ascii: "$")
            && !topic.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "+") }
    }

    init(_ fields: KiiFields, of installationID: String, in response: KiiResponse) throws(KiiResponseError) {
        let lifetime = try fields.optionalSeconds("X-MQTT-TTL", "ttl")
        let host = try fields.string("host")
        let (portTCP, portSSL) = (try fields.optionalPort("portTCP"), try fields.optionalPort("portSSL"))
        let (portWS, portWSS) = (try fields.optionalPort("portWS"), try fields.optionalPort("portWSS"))
        guard portTCP ?? portSSL ?? portWS ?? portWSS != nil else { throw fields.failure(.missing, at: "portTCP") }
        let topic = try fields.string("mqttTopic")
        guard MQTTEndpoint.isUsable(topic: topic) else {
            let words =
                "is no topic to receive on (a wildcard, U+0000, \"$\" at its beginning, or more than "
                + "\(MQTTEndpoint.maximumTopicBytes) bytes)"
            throw fields.failure(words, at: "mqttTopic")
        }
        self.init(
            installationID: installationID, host: host, portTCP: portTCP, portSSL: portSSL, mqttTopic: topic,
            username: try fields.string("username"), password: try fields.secret("password"))
        self.portWS = portWS
        self.portWSS = portWSS
        self.timeToLive = (lifetime ?? response.http.field("X-MQTT-TTL").flatMap { Int64($0) })
            .map { .seconds(max(0, $0)) }
    }
}
