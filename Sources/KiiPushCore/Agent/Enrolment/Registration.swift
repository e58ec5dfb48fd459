/// The agent's registration in the cloud, without secrets.
public struct Registration: Sendable, Hashable {
    /// The user or thing that owns the installation and is the subscriber.
    public var principal: Principal
    /// The installation, Kii's word for one delivery channel of a user or thing.
    public var installationID: String
    package var host: String
    /// The broker's plain port; `nil` when it offers none.
    package var portTCP: UInt16?
    /// The broker's TLS port; `nil` when it offers none.
    package var portSSL: UInt16?
    /// The one MQTT topic that pushes arrive on. It is the MQTT client ID as well.
    package var mqttTopic: String
    /// The further members that the installation was made with.
    package var installationMembers: JSONValue?
}
