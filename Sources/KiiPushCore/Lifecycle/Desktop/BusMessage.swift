/// What goes over the bus in a call of the notification service, as D-Bus types it.
enum BusValue {
    case string(String)
    case uint32(UInt32)
    case int32(Int32)
    case byte(UInt8)
    case boolean(Bool)
    /// Values in a container: D-Bus's names of its type and of what it contains.
    case container(Unicode.Scalar, of: String, [BusValue])

    static func strings(_ texts: [String]) -> BusValue { .container("a", of: "s", texts.map { .string($0) }) }

    /// String keys, and values that name their own types.
    static func dictionary(_ entries: [(key: String, type: String, value: BusValue)]) -> BusValue {
        .container(
            "a", of: "{sv}",
            entries.map { .container("e", of: "sv", [.string($0.key), .container("v", of: $0.type, [$0.value])]) })
    }
}

/// A message of the bus. On one thread, as its bus is.
final class BusMessage {
    private let library: SDBusLibrary
    let pointer: SDBusLibrary.Message

    /// Takes over a message that somebody else would have to give back.
    init(owning pointer: SDBusLibrary.Message, _ library: SDBusLibrary) {
        self.pointer = pointer
        self.library = library
    }

    deinit { _ = self.library.unrefMessage(self.pointer) }

    /// - Throws: ``DesktopServiceError/refused(name:)`` for what does not fit into a message.
    func append(_ value: BusValue) throws(DesktopServiceError) {
        switch value {
        case .string(let text): try self.check(text.withCString { self.append("s", $0) })
        case .uint32(var number): try self.check(self.append("u", &number))
        case .int32(var number): try self.check(self.append("i", &number))
        case .byte(var number): try self.check(self.append("y", &number))
        case .boolean(let flag):
            // An `int`, for D-Bus.
            var number: Int32 = flag ? 1 : 0
            try self.check(self.append("b", &number))
        case .container(let type, let contents, let values):
            try self.check(self.library.openContainer(self.pointer, type.code, contents))
            for value in values { try self.append(value) }
            try self.check(self.library.closeContainer(self.pointer))
        }
    }

    private func append(_ type: Unicode.Scalar, _ value: UnsafeRawPointer) -> Int32 {
        self.library.append(self.pointer, type.code, value)
    }

    private func check(_ code: Int32) throws(DesktopServiceError) {
        if code < 0 { throw .refused(name: errorText(-code)) }
    }

    /// The next value, if it is a number of this type.
    func readUInt32() -> UInt32? {
        var number: UInt32 = 0
        return self.library.read(self.pointer, Unicode.Scalar("u").code, &number) > 0 ? number : nil
    }

    /// The next value, if it is a string.
    func readString() -> String? {
        var text: SDBusLibrary.Text?
        guard self.library.read(self.pointer, Unicode.Scalar("s").code, &text) > 0 else { return nil }
        return text.map { String(cString: $0) }
    }

    /// The next value, if it is an array of strings.
    func readStrings() -> [String]? {
        guard self.library.enterContainer(self.pointer, Unicode.Scalar("a").code, "s") > 0 else { return nil }
        return Array(sequence(state: ()) { _ in self.readString() })
    }

    /// The bus's name for the connection that sent it.
    var sender: String? { self.library.sender(self.pointer).map { String(cString: $0) } }

    /// Whether it answers a call.
    var isReply: Bool {
        var cookie: UInt64 = 0
        return self.library.replyCookie(self.pointer, &cookie) >= 0
    }

    func isSignal(_ member: String, of interface: String) -> Bool {
        self.library.isSignal(self.pointer, interface, member) > 0
    }
}

extension Unicode.Scalar {
    /// As sd-bus takes the name of a type: a `char`. All are ASCII.
    fileprivate var code: CChar { CChar(truncatingIfNeeded: self.value) }
}
