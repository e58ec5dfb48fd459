/// What goes over the bus in a call of the notification service, as D-Bus types it.
enum BusValue: Sendable {
    case string(String)
    case uint32(UInt32)
    case int32(Int32)
    case byte(UInt8)
    case boolean(Bool)
    case strings([String])
    /// String keys, and values of any of these types.
    case dictionary([Entry])

    struct Entry: Sendable {
        var key: String
        var value: BusValue
    }

    /// D-Bus's name of the type.
    var signature: String {
        switch self {
        case .string: "s"
        case .uint32: "u"
        case .int32: "i"
        case .byte: "y"
        case .boolean: "b"
        case .strings: "as"
        case .dictionary: "a{sv}"
        }
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

    // MARK: - Writing

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
        case .strings(let texts):
            try self.append(in: "a", "s") { () throws(DesktopServiceError) in
                for text in texts { try self.append(.string(text)) }
            }
        case .dictionary(let entries):
            try self.append(in: "a", "{sv}") { () throws(DesktopServiceError) in
                for entry in entries { try self.append(entry) }
            }
        }
    }

    private func append(_ entry: BusValue.Entry) throws(DesktopServiceError) {
        try self.append(in: "e", "sv") { () throws(DesktopServiceError) in
            try self.append(.string(entry.key))
            try self.append(in: "v", entry.value.signature) { () throws(DesktopServiceError) in
                try self.append(entry.value)
            }
        }
    }

    private func append(
        in container: Unicode.Scalar, _ contents: String, _ body: () throws(DesktopServiceError) -> Void
    ) throws(DesktopServiceError) {
        try self.check(self.library.openContainer(self.pointer, container.type, contents))
        try body()
        try self.check(self.library.closeContainer(self.pointer))
    }

    private func append(_ type: Unicode.Scalar, _ value: UnsafeRawPointer) -> Int32 {
        self.library.append(self.pointer, type.type, value)
    }

    private func check(_ code: Int32) throws(DesktopServiceError) {
        if code < 0 { throw .refused(name: errorText(-code)) }
    }

    // MARK: - Reading

    /// The next value, if it is a number of this type.
    func readUInt32() -> UInt32? {
        var number: UInt32 = 0
        return self.library.read(self.pointer, Unicode.Scalar("u").type, &number) > 0 ? number : nil
    }

    /// The next value, if it is a string.
    func readString() -> String? {
        var text: SDBusLibrary.Text?
        guard self.library.read(self.pointer, Unicode.Scalar("s").type, &text) > 0 else { return nil }
        return text.map { String(cString: $0) }
    }

    /// The next value, if it is an array of strings.
    func readStrings() -> [String]? {
        guard self.library.enterContainer(self.pointer, Unicode.Scalar("a").type, "s") > 0 else { return nil }
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
    fileprivate var type: CChar { CChar(truncatingIfNeeded: self.value) }
}
