/// When an emulator's broker writes its sessions and queued messages to disk.
///
/// A broker that ends in order, also because the emulator was killed, writes in both cases. The difference is what a
/// broker that is itself killed, or a power cut, takes along.
/// - Source: mosquitto.conf(5), `autosave_on_changes` and `autosave_interval`.
public enum BrokerPersistence: Sendable, Hashable {
    /// After every change. Each time all that is queued is written, so a send takes the longer the more is queued: with
    /// thousands of messages waiting, tens of milliseconds.
    case everyChange
    /// Once a second, also when nothing has changed. For sending many messages fast; what was accepted within the last
    /// second is lost with a broker that is killed.
    case everySecond
}
