/// When an emulator's broker writes its sessions and queued messages to disk.
///
/// A broker that ends in order, even because the emulator was killed, writes in both cases. The difference shows when
/// the broker itself is killed or the power fails.
///
/// - Source: mosquitto.conf(5), `autosave_on_changes` and `autosave_interval`.
public enum BrokerPersistence: Sendable, Hashable {
    /// After every change. Each write covers the whole queue, so a send slows down as the queue grows: with thousands
    /// of waiting messages it takes tens of milliseconds.
    case everyChange
    /// Once a second, even without a change. This suits sending many messages fast; if the broker is killed, it loses
    /// the messages accepted within the last second.
    case everySecond
}
