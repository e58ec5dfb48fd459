/// How the pushes are written that an installation receives over MQTT.
///
/// - Source: an extension of `KiiPushEmulator`. Kii's cloud writes ``mqtt`` over MQTT, and ``apns`` to Apple's devices.
public enum PayloadFormat: String, Sendable, Hashable, CaseIterable {
    /// Kii's long keys, without `aps`: what Kii's cloud sends over MQTT.
    case mqtt
    /// `aps` with alert, badge and sound, and Kii's short keys: what Kii's cloud hands to Apple for a device.
    case apns
}
