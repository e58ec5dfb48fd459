import CSystemd
import Glibc
import KiiPushCore

/// A connection to the session bus, for use on one thread.
///
/// - Source: sd-bus(3).
final class SessionBus {
    struct Method {
        var destination: String
        var path: String
        var interface: String
        var member: String
    }

    enum Argument {
        case text(String)
        case number(Int32)
    }

    private let bus: OpaquePointer

    init(address: String?, within time: Duration) throws(DesktopServiceError) {
        var pointer: OpaquePointer?
        let made = address == nil ? sd_bus_open_user(&pointer) : sd_bus_new(&pointer)
        guard made >= 0, let bus = pointer else { throw .noBus(code: -made) }
        self.bus = bus
        if let address {
            let code = min(sd_bus_set_address(bus, address), sd_bus_set_bus_client(bus, 1), sd_bus_start(bus))
            guard code >= 0 else { throw .noBus(code: -code) }
        }
        let deadline = MonotonicInstant.now() + time
        while true {
            let (code, _) = self.process()
            guard code >= 0 else { throw .noBus(code: -code) }
            if sd_bus_is_ready(bus) > 0 { return }
            if code > 0 { continue }
            let remaining = deadline - .now()
            guard remaining > .zero else { throw .noAnswer }
            sd_bus_wait(bus, SessionBus.microseconds(remaining))
        }
    }

    deinit {
        sd_bus_close(self.bus)
        sd_bus_unref(self.bus)
    }

    var descriptor: Int32 { sd_bus_get_fd(self.bus) }
    var hasOutput: Bool { sd_bus_get_events(self.bus) & Int32(POLLOUT) != 0 }

    /// - Parameter types: the signature of the arguments, in D-Bus's notation.
    func call(
        _ method: Method, _ types: String = "", _ arguments: [Argument] = [], within time: Duration
    ) throws(DesktopServiceError) -> BusMessage {
        let message = try self.message(method, types, arguments)
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        var reply: OpaquePointer?
        let code = sd_bus_call(self.bus, message.pointer, SessionBus.microseconds(time), &error, &reply)
        if code >= 0, let reply { return BusMessage(owning: reply) }
        throw SessionBus.error(-code, named: error.name.map { String(cString: $0) } ?? errorText(-code))
    }

    func send(_ method: Method, _ types: String, _ arguments: [Argument]) {
        guard let message = try? self.message(method, types, arguments) else { return }
        // A null cookie marks the message as a call that expects no reply: sd_bus_send(3).
        sd_bus_send(self.bus, message.pointer, nil)
    }

    private func message(
        _ method: Method, _ types: String, _ arguments: [Argument]
    ) throws(DesktopServiceError) -> BusMessage {
        var pointer: OpaquePointer?
        var code = sd_bus_message_new_method_call(
            self.bus, &pointer, method.destination, method.path, method.interface, method.member)
        guard code >= 0, let pointer else { throw SessionBus.error(-code, named: errorText(-code)) }
        let message = BusMessage(owning: pointer)
        var texts: [UnsafeMutablePointer<CChar>] = []
        defer { for text in texts { free(text) } }
        var values: [any CVarArg] = []
        for argument in arguments {
            switch argument {
            case .number(let number): values.append(number)
            case .text(let text):
                guard let copy = strdup(text) else { throw .refused(name: errorText(ENOMEM)) }
                texts.append(copy)
                values.append(copy)
            }
        }
        code = withVaList(values) { sd_bus_message_appendv(pointer, types, $0) }
        if code < 0 { throw .refused(name: errorText(-code)) }
        return message
    }

    /// At least 1: for `sd_bus_call`, zero means the default of 25 s.
    private static func microseconds(_ time: Duration) -> UInt64 { UInt64(max(time.wholeNanoseconds / 1000, 1)) }

    private static func error(_ code: Int32, named name: String) -> DesktopServiceError {
        let known = "org.freedesktop.DBus.Error."
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

    func received() throws(DesktopServiceError) -> BusMessage? {
        while true {
            let (code, message) = self.process()
            guard code >= 0 else { throw .connectionLost(code: -code) }
            if let message { return message }
            if code == 0 { return nil }
        }
    }

    /// - Returns: `code` is above 0 if sd-bus did some work, and below 0 for an error.
    private func process() -> (code: Int32, message: BusMessage?) {
        var message: OpaquePointer?
        let code = sd_bus_process(self.bus, &message)
        return (code, message.map { BusMessage(owning: $0) })
    }
}

final class BusMessage {
    fileprivate let pointer: OpaquePointer

    fileprivate init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { sd_bus_message_unref(self.pointer) }

    func readUInt32() -> UInt32? {
        var number: UInt32 = 0
        return sd_bus_message_read_basic(self.pointer, CChar(SD_BUS_TYPE_UINT32), &number) > 0 ? number : nil
    }

    func readString() -> String? {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(self.pointer, CChar(SD_BUS_TYPE_STRING), &text) > 0 else { return nil }
        return text.map { String(cString: $0) }
    }

    func readStrings() -> [String]? {
        guard sd_bus_message_enter_container(self.pointer, CChar(SD_BUS_TYPE_ARRAY), "s") > 0 else { return nil }
        return Array(sequence(state: ()) { _ in self.readString() })
    }

    var sender: String? { sd_bus_message_get_sender(self.pointer).map { String(cString: $0) } }

    var isReply: Bool {
        var cookie: UInt64 = 0
        return sd_bus_message_get_reply_cookie(self.pointer, &cookie) >= 0
    }

    func isSignal(_ member: String, of interface: String) -> Bool {
        sd_bus_message_is_signal(self.pointer, interface, member) > 0
    }
}
