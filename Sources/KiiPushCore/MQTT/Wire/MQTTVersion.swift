/// The revisions of MQTT that this package speaks. Kii's documents name 3.1 and its brokers take both; the value is the
/// protocol level of CONNECT (MQTT 3.1.1, 3.1.2.1 and 3.1.2.2; MQTT 3.1, 3.1).
// swift-format-ignore: AlwaysUseLowerCamelCase
package enum MQTTVersion: UInt8, Sendable, Hashable {
    case v3_1 = 3
    case v3_1_1 = 4

    /// The protocol name that goes with the level.
    package var protocolName: String { self == .v3_1 ? "MQIsdp" : "MQTT" }
}
