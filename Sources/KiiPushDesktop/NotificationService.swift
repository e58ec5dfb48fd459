import KiiPushCore

/// The notification service of the session, over the bus. On one thread.
///
/// - Source: the Desktop Notifications Specification, version 1.2.
final class NotificationService {
    /// What it tells.
    enum Signal {
        /// Another connection has the service's name from now on, or (`nil`) none; and which one had it before.
        case ownerChanged(from: String?, to: String?)
        /// The user chose an action.
        case invoked(DesktopNotificationKey, action: String)
        /// A notification is gone.
        case closed(DesktopNotificationKey, reason: UInt32)
        /// A notification is shown that was given up on, since the service did not answer in time.
        case shownLate(DesktopNotificationKey)
    }

    private static let name = "org.freedesktop.Notifications"
    private static let busName = "org.freedesktop.DBus"
    private static let path = "/org/freedesktop/Notifications"

    private let configuration: DesktopPresenter.Configuration
    private let bus: SessionBus
    /// What the service can show, and which one said so; `nil` until it was asked.
    private var capabilities: (of: Set<String>, owner: String)?

    /// Connects to the bus. Whether there is a service shows when it is called.
    init(_ configuration: DesktopPresenter.Configuration) throws(DesktopServiceError) {
        self.configuration = configuration
        self.bus = try SessionBus(address: configuration.busAddress, within: configuration.callTimeout)
        let addMatch = SessionBus.Method(
            destination: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName, member: "AddMatch")
        // Nothing is waited for: the bus carries out in order what it is told.
        self.bus.send(addMatch, "s", [.text("type='signal',interface='\(Self.name)',path='\(Self.path)'")])
        self.bus.send(
            addMatch, "s",
            [.text("type='signal',sender='\(Self.busName)',member='NameOwnerChanged',arg0='\(Self.name)'")])
    }

    var descriptor: Int32 { self.bus.descriptor }
    var hasOutput: Bool { self.bus.hasOutput }

    private func method(_ member: String, of owner: String = name) -> SessionBus.Method {
        SessionBus.Method(destination: owner, path: Self.path, interface: Self.name, member: member)
    }

    /// Shows a notification.
    func show(_ request: NotificationRequest) throws(DesktopServiceError) -> DesktopNotificationKey {
        let capabilities = try self.knownCapabilities()
        let notification = DesktopNotification(
            request: request, configuration: self.configuration, capabilities: capabilities.of)
        let reply = try self.bus.call(
            self.method("Notify"), DesktopNotification.types, notification.arguments,
            within: self.configuration.callTimeout)
        // "The server never returns zero"; one that does shows nothing.
        guard let id = reply.readUInt32(), id != 0, let owner = reply.sender else {
            throw .refused(name: "no ID in its answer")
        }
        // Another one by now, of which nothing is known.
        if owner != capabilities.owner { self.capabilities = nil }
        return DesktopNotificationKey(owner: owner, id: id)
    }

    /// `actions`, `body`, `body-markup`, `persistence`, and others.
    private func knownCapabilities() throws(DesktopServiceError) -> (of: Set<String>, owner: String) {
        if let known = self.capabilities { return known }
        do throws(DesktopServiceError) {
            let reply = try self.bus.call(self.method("GetCapabilities"), within: self.configuration.callTimeout)
            let asked = (of: Set(reply.readStrings() ?? []), owner: reply.sender ?? "")
            self.capabilities = asked
            return asked
        } catch {
            // What cannot say what it can show is no such service.
            guard case .refused(let name) = error else { throw error }
            throw .noService(name: name)
        }
    }

    /// Takes a notification away. Only its own service is told: to another one the number means something else.
    func close(_ key: DesktopNotificationKey) {
        self.bus.send(self.method("CloseNotification", of: key.owner), "u", [.number(Int32(bitPattern: key.id))])
    }

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
            guard message.readString() == Self.name, let old = message.readString(), let new = message.readString()
            else { return nil }
            self.capabilities = nil
            return .ownerChanged(from: old.isEmpty ? nil : old, to: new.isEmpty ? nil : new)
        }
        let isInvoked = message.isSignal("ActionInvoked", of: Self.name)
        let isClosed = message.isSignal("NotificationClosed", of: Self.name)
        // Notify alone is answered with a number.
        guard isInvoked || isClosed || message.isReply, let id = message.readUInt32() else { return nil }
        let key = DesktopNotificationKey(owner: owner, id: id)
        if isInvoked { return message.readString().map { .invoked(key, action: $0) } }
        if isClosed { return message.readUInt32().map { .closed(key, reason: $0) } }
        return .shownLate(key)
    }
}
