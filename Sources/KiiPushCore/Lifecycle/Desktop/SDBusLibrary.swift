import Glibc

/// The functions of sd-bus that are called, from whichever library of the system has them.
///
/// Loaded when the first notification is shown: a program without a desktop needs nothing of it. None of them takes a
/// variable number of arguments, which Swift could not pass.
///
/// - Source: sd-bus(3). All that is called is there since version 237 (2018).
struct SDBusLibrary: Sendable {
    typealias Bus = OpaquePointer
    typealias Message = OpaquePointer
    typealias Slot<Value> = UnsafeMutablePointer<Value>
    typealias Text = UnsafePointer<CChar>

    /// systemd's own, and the one for systems without it.
    static let names = ["libsystemd.so.0", "libelogind.so.0"]

    /// `nil` where there is none.
    static let shared: SDBusLibrary? = {
        for name in names {
            if let file = dlopen(name, RTLD_NOW | RTLD_LOCAL), let library = try? SDBusLibrary(file) { return library }
        }
        return nil
    }()

    // Making a connection and ending it.
    let openUser, new: @Sendable @convention(c) (Slot<Bus?>) -> Int32
    let setAddress: @Sendable @convention(c) (Bus, Text) -> Int32
    let setBusClient: @Sendable @convention(c) (Bus, Int32) -> Int32
    let start, isReady: @Sendable @convention(c) (Bus) -> Int32
    let close: @Sendable @convention(c) (Bus) -> Void
    let unref: @Sendable @convention(c) (Bus) -> Bus?

    // Its turns.
    let process: @Sendable @convention(c) (Bus, Slot<Message?>) -> Int32
    let descriptor, events: @Sendable @convention(c) (Bus) -> Int32
    let call: @Sendable @convention(c) (Bus, Message, UInt64, UnsafeMutableRawPointer, Slot<Message?>) -> Int32
    let send: @Sendable @convention(c) (Bus, Message, Slot<UInt64>?) -> Int32
    let freeError: @Sendable @convention(c) (UnsafeMutableRawPointer) -> Void

    // Messages.
    let newCall: @Sendable @convention(c) (Bus, Slot<Message?>, Text, Text, Text, Text) -> Int32
    let append: @Sendable @convention(c) (Message, CChar, UnsafeRawPointer) -> Int32
    let openContainer, enterContainer: @Sendable @convention(c) (Message, CChar, Text) -> Int32
    let closeContainer: @Sendable @convention(c) (Message) -> Int32
    let read: @Sendable @convention(c) (Message, CChar, UnsafeMutableRawPointer) -> Int32
    let isSignal: @Sendable @convention(c) (Message, Text, Text) -> Int32
    let sender: @Sendable @convention(c) (Message) -> Text?
    let replyCookie: @Sendable @convention(c) (Message, Slot<UInt64>) -> Int32
    let unrefMessage: @Sendable @convention(c) (Message) -> Message?

    private init(_ library: UnsafeMutableRawPointer) throws {
        func function<Function>(_ name: String) throws -> Function {
            guard let address = dlsym(library, "sd_bus_\(name)") else {
                throw DesktopServiceError.noLibrary(names: Self.names)
            }
            // The types above are those of <systemd/sd-bus.h>.
            return unsafeBitCast(address, to: Function.self)
        }
        self.openUser = try function("open_user")
        self.new = try function("new")
        self.setAddress = try function("set_address")
        self.setBusClient = try function("set_bus_client")
        self.start = try function("start")
        self.isReady = try function("is_ready")
        self.close = try function("close")
        self.unref = try function("unref")
        self.process = try function("process")
        self.descriptor = try function("get_fd")
        self.events = try function("get_events")
        self.call = try function("call")
        self.send = try function("send")
        self.freeError = try function("error_free")
        self.newCall = try function("message_new_method_call")
        self.append = try function("message_append_basic")
        self.openContainer = try function("message_open_container")
        self.closeContainer = try function("message_close_container")
        self.read = try function("message_read_basic")
        self.enterContainer = try function("message_enter_container")
        self.isSignal = try function("message_is_signal")
        self.sender = try function("message_get_sender")
        self.replyCookie = try function("message_get_reply_cookie")
        self.unrefMessage = try function("message_unref")
    }
}
