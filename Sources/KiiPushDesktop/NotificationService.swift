import KiiPushCore

/// The session's notification service. For use on one thread.
///
/// - Source: the Desktop Notifications Specification, version 1.2.
final class NotificationService {
    enum Signal {
        /// The values are bus names; `nil` means that there is no service.
        case ownerChanged(from: String?, to: String?)
        case invoked(DesktopNotificationKey, action: String)
        case closed(DesktopNotificationKey, reason: UInt32)
        case shownLate(DesktopNotificationKey)
    }

    private static let name = "org.freedesktop.Notifications"
    private static let busName = "org.freedesktop.DBus"
    private static let path = "/org/freedesktop/Notifications"

    private let configuration: DesktopPresenter.Configuration
    private let bus: SessionBus
    private var capabilities: (of: Set<String>, owner: String)?

    init(_ configuration: DesktopPresenter.Configuration) throws(DesktopServiceError) {
        self.configuration = configuration
        self.bus = try SessionBus(address: configuration.busAddress, within: configuration.callTimeout)
        let addMatch = SessionBus.Method(
            destination: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName, member: "AddMatch")
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

    func show(_ request: NotificationRequest) throws(DesktopServiceError) -> DesktopNotificationKey {
        let capabilities = try self.knownCapabilities()
        let notification = DesktopNotification(
            request: request, configuration: self.configuration, capabilities: capabilities.of)
        let reply = try self.bus.call(
            self.method("Notify"), DesktopNotification.types, notification.arguments,
            within: self.configuration.callTimeout)
        // "The server never returns zero", so an answer of zero means that nothing was shown.
        guard let id = reply.readUInt32(), id != 0, let owner = reply.sender else {
            throw .refused(name: "no ID in its answer")
        }
        if owner != capabilities.owner { self.capabilities = nil }
        return DesktopNotificationKey(owner: owner, id: id)
    }

    /// Asks the service only if the capabilities are unknown or the service has changed.
    private func knownCapabilities() throws(DesktopServiceError) -> (of: Set<String>, owner: String) {
        if let known = self.capabilities { return known }
        do throws(DesktopServiceError) {
            let reply = try self.bus.call(self.method("GetCapabilities"), within: self.configuration.callTimeout)
            let asked = (of: Set(reply.readStrings() ?? []), owner: reply.sender ?? "")
            self.capabilities = asked
            return asked
        } catch {
            guard case .refused(let name) = error else { throw error }
            throw .noService(name: name)
        }
    }

    /// Sends the call only to the service that showed the notification: another service may use the same number.
    func close(_ key: DesktopNotificationKey) {
        self.bus.send(self.method("CloseNotification", of: key.owner), "u", [.number(Int32(bitPattern: key.id))])
    }

    func signal() throws(DesktopServiceError) -> Signal? {
        while let message = try self.bus.received() {
            if let signal = self.signal(message) { return signal }
        }
        return nil
    }

    private func signal(_ message: BusMessage) -> Signal? {
        guard let owner = message.sender else { return nil }
        // Checks the sender, because any program of the session can send a signal of this name.
        if owner == Self.busName, message.isSignal("NameOwnerChanged", of: Self.busName) {
            guard message.readString() == Self.name, let old = message.readString(), let new = message.readString()
            else { return nil }
            self.capabilities = nil
            return .ownerChanged(from: old.isEmpty ? nil : old, to: new.isEmpty ? nil : new)
        }
        let isInvoked = message.isSignal("ActionInvoked", of: Self.name)
        let isClosed = message.isSignal("NotificationClosed", of: Self.name)
        // A reply with a number is a late answer to `Notify`: no other reply has a number.
        guard isInvoked || isClosed || message.isReply, let id = message.readUInt32() else { return nil }
        let key = DesktopNotificationKey(owner: owner, id: id)
        if isInvoked { return message.readString().map { .invoked(key, action: $0) } }
        if isClosed { return message.readUInt32().map { .closed(key, reason: $0) } }
        return .shownLate(key)
    }
}
