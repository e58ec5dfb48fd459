/// When an emulator's broker writes its sessions and queued messages to disk.
///
/// The choice matters only if the broker is killed or crashes, or if the power fails. A broker that ends normally
/// writes its sessions and messages, even after the emulator was killed.
///
/// - Source: mosquitto.conf(5), `autosave_on_changes` and `autosave_interval`.
public enum BrokerPersistence: Sendable, Hashable {
    /// After every change. Each write covers the whole queue: with thousands of waiting messages, a send takes tens of
    /// milliseconds.
    case everyChange
    /// Once a second. Sends stay fast, but a killed broker may lose the messages of its last second.
    case everySecond
}
