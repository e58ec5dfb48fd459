/// The agent's registration in the cloud, without secrets.
public struct Registration: Sendable, Hashable {
    /// The user or thing that owns the installation and its subscriptions.
    public var principal: Principal
    /// The ID of the installation. In Kii, an installation is one delivery channel of a user or thing.
    public var installationID: String
    package var host: String
    package var portTCP: UInt16?
    package var portSSL: UInt16?
    /// The MQTT topic of all pushes. It is also the MQTT client ID.
    package var mqttTopic: String
    package var installationMembers: JSONValue?
}
