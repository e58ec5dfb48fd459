import Glibc

/// A connection to the bus of the session. On one thread.
final class SessionBus {
    /// The method to call.
    struct Method {
        var destination: String
        var path: String
        var interface: String
        var member: String
    }

    private let library: SDBusLibrary
    private let bus: SDBusLibrary.Bus

    /// Connects, and waits until the bus has let this program in.
    ///
    /// - Parameter address: that of the bus; `nil` for the session's.
    init(address: String?, within time: Duration) throws(DesktopServiceError) {
        guard let library = SDBusLibrary.shared else { throw .noLibrary(names: SDBusLibrary.names) }
        var pointer: SDBusLibrary.Bus?
        let made = address == nil ? library.openUser(&pointer) : library.new(&pointer)
        guard made >= 0, let bus = pointer else { throw .noBus(code: -made) }
        self.library = library
        self.bus = bus
        if let address {
            let code = min(library.setAddress(bus, address), library.setBusClient(bus, 1), library.start(bus))
            guard code >= 0 else { throw .noBus(code: -code) }
        }
        let deadline = MonotonicInstant.now() + time
        while true {
            let (code, _) = self.process()
            guard code >= 0 else { throw .noBus(code: -code) }
            if library.isReady(bus) > 0 { return }
            if code > 0 { continue }
            let remaining = (deadline - .now()).wholeMillisecondsRoundedUp
            guard remaining > 0 else { throw .noAnswer }
            var entry = pollfd(fd: self.descriptor, events: Int16(library.events(bus)), revents: 0)
            poll(&entry, 1, Int32(clamping: remaining))
        }
    }

    deinit {
        self.library.close(self.bus)
        _ = self.library.unref(self.bus)
    }

    /// What to wait for, for the next ``received()``.
    var descriptor: Int32 { self.library.descriptor(self.bus) }
    /// Whether something waits to be written.
    var hasOutput: Bool { self.library.events(self.bus) & Int32(POLLOUT) != 0 }

    /// Calls a method, and waits for its answer.
    func call(
        _ method: Method, _ arguments: [BusValue] = [], within time: Duration
    ) throws(DesktopServiceError) -> BusMessage {
        let message = try self.message(method, arguments)
        // sd_bus_error: two pointers, the first of them the name, and an int.
        let error = UnsafeMutablePointer<SDBusLibrary.Text?>.allocate(capacity: 3)
        error.initialize(repeating: nil, count: 3)
        defer {
            self.library.freeError(error)
            error.deallocate()
        }
        var reply: SDBusLibrary.Message?
        // Zero would mean sd-bus's own 25 s.
        let microseconds = UInt64(max(time.wholeNanoseconds / 1000, 1))
        let code = self.library.call(self.bus, message.pointer, microseconds, error, &reply)
        if code >= 0, let reply { return BusMessage(owning: reply, self.library) }
        throw SessionBus.error(-code, named: error.pointee.map { String(cString: $0) } ?? errorText(-code))
    }

    /// Calls a method, and wants no answer.
    func send(_ method: Method, _ arguments: [BusValue]) {
        guard let message = try? self.message(method, arguments) else { return }
        // Without a cookie sd-bus has the message say that no reply is expected: sd_bus_send(3).
        _ = self.library.send(self.bus, message.pointer, nil)
    }

    private func message(_ method: Method, _ arguments: [BusValue]) throws(DesktopServiceError) -> BusMessage {
        var pointer: SDBusLibrary.Message?
        let code = self.library.newCall(
            self.bus, &pointer, method.destination, method.path, method.interface, method.member)
        guard code >= 0, let pointer else { throw SessionBus.error(-code, named: errorText(-code)) }
        let message = BusMessage(owning: pointer, self.library)
        for argument in arguments { try message.append(argument) }
        return message
    }

    private static func error(_ code: Int32, named name: String) -> DesktopServiceError {
        let known = "org.freedesktop.DBus.Error."
        // Of the bus, when the service is gone; sd-bus's own limit has another name.
        if name == known + "NoReply" { return .serviceEnded }
        switch code {
        case ETIMEDOUT: return .noAnswer
        case ECONNRESET, ENOTCONN, EPIPE, ESHUTDOWN: return .connectionLost(code: code)
        default: break
        }
        let isAbsent =
            [known + "ServiceUnknown", known + "NameHasNoOwner"].contains(name) || name.hasPrefix(known + "Spawn.")
        return isAbsent ? .noService(name: name) : .refused(name: name)
    }

    /// The next signal that has come, or any other message; `nil` when there is none.
    func received() throws(DesktopServiceError) -> BusMessage? {
        while true {
            let (code, message) = self.process()
            guard code >= 0 else { throw .connectionLost(code: -code) }
            if let message { return message }
            if code == 0 { return nil }
        }
    }

    /// - Returns: above 0 when something was done, below 0 an error; and the message that came, if one did.
    private func process() -> (code: Int32, message: BusMessage?) {
        var message: SDBusLibrary.Message?
        let code = self.library.process(self.bus, &message)
        return (code, message.map { BusMessage(owning: $0, self.library) })
    }
}
