/// The notification service of the session, over the bus. On one thread.
///
/// - Source: the Desktop Notifications Specification, version 1.2.
final class NotificationService {
    /// What it tells.
    enum Signal: Sendable, Hashable {
        /// Another connection has the service's name from now on, or (`nil`) none.
        case ownerChanged(String?)
        /// The user chose an action.
        case invoked(DesktopNotificationKey, action: String)
        /// A notification is gone.
        case closed(DesktopNotificationKey, reason: UInt32)
    }

    private static let name = "org.freedesktop.Notifications"
    private static let busName = "org.freedesktop.DBus"
    private static let path = "/org/freedesktop/Notifications"

    private let bus: SessionBus
    private let timeout: Duration

    /// Connects to the bus. Whether there is a service shows when it is called.
    init(_ configuration: DesktopPresenter.Configuration) throws(DesktopServiceError) {
        self.timeout = configuration.callTimeout
        self.bus = try SessionBus(address: configuration.busAddress, within: self.timeout)
        for rule in [
            "type='signal',interface='\(Self.name)',path='\(Self.path)'",
            "type='signal',sender='\(Self.busName)',member='NameOwnerChanged',arg0='\(Self.name)'",
        ] {
            let addMatch = SessionBus.Method(
                destination: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName, member: "AddMatch")
            _ = try self.bus.call(addMatch, [.string(rule)], within: self.timeout)
        }
    }

    var descriptor: Int32 { self.bus.descriptor }
    var hasOutput: Bool { self.bus.hasOutput }

    private func method(_ member: String) -> SessionBus.Method {
        SessionBus.Method(destination: Self.name, path: Self.path, interface: Self.name, member: member)
    }

    /// What the service can show: `actions`, `body`, `body-markup`, `persistence`, and others.
    func capabilities() throws(DesktopServiceError) -> Set<String> {
        let reply = try self.bus.call(self.method("GetCapabilities"), within: self.timeout)
        return Set(reply.readStrings() ?? [])
    }

    /// Shows a notification.
    func show(
        _ notification: DesktopNotification, replacing id: UInt32?
    ) throws(DesktopServiceError) -> DesktopNotificationKey {
        let reply = try self.bus.call(
            self.method("Notify"), notification.arguments(replacing: id), within: self.timeout)
        guard let id = reply.readUInt32(), let owner = reply.sender else { throw .refused(name: "no ID in its answer") }
        return DesktopNotificationKey(owner: owner, id: id)
    }

    /// Takes a notification away.
    func close(_ key: DesktopNotificationKey) { self.bus.send(self.method("CloseNotification"), [.uint32(key.id)]) }

    /// What it has told since; `nil` for nothing.
    func signal() throws(DesktopServiceError) -> Signal? {
        while let message = try self.bus.received() {
            if let signal = self.signal(message) { return signal }
        }
        return nil
    }

    private func signal(_ message: BusMessage) -> Signal? {
        guard let owner = message.sender else { return nil }
        // Of the bus alone: any program of the session can send what looks like it.
        if owner == Self.busName, message.isSignal("NameOwnerChanged", of: Self.busName) {
            guard message.readString() == Self.name, message.readString() != nil, let owner = message.readString()
            else { return nil }
            return .ownerChanged(owner.isEmpty ? nil : owner)
        }
        if message.isSignal("ActionInvoked", of: Self.name), let id = message.readUInt32() {
            return message.readString().map { .invoked(DesktopNotificationKey(owner: owner, id: id), action: $0) }
        }
        if message.isSignal("NotificationClosed", of: Self.name), let id = message.readUInt32() {
            return message.readUInt32().map { .closed(DesktopNotificationKey(owner: owner, id: id), reason: $0) }
        }
        return nil
    }
}
