import KiiPushCore

/// Why receivers refuse a payload, and where in it the reason is.
struct PayloadRefusal {
    private let error: MessageError
    private let place: TextPlace?

    init(_ error: MessageError, of bytes: [UInt8]) {
        self.error = error
        guard case .malformed(let error) = error, error.code != .empty, error.code != .tooLarge else {
            self.place = nil
            return
        }
        self.place = TextPlace(offset: error.byteOffset, in: bytes)
    }

    /// What the command ends with.
    var failure: CommandFailure {
        var failure = CommandFailure(describing: self.error)
        if let place { failure.message += " (line \(place.line), column \(place.column))" }
        return failure
    }

    /// For programs.
    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("code", JSONValue(self.code)), ("reason", JSONValue(self.error.description)),
        ]
        switch self.error {
        case .malformed(let error):
            members.append(("pointer", JSONValue(error.pointer.description)))
            guard let place else { break }
            members += [
                ("byte", JSONValue(error.byteOffset)), ("line", JSONValue(place.line)),
                ("column", JSONValue(place.column)),
            ]
        case .notAnObject: members.append(("pointer", ""))
        case .thingCommand: break
        }
        return .object(members)
    }

    private var code: String {
        switch self.error {
        case .malformed: "malformed"
        case .notAnObject: "not-an-object"
        case .thingCommand: "thing-command"
        }
    }
}

/// A place in a text as editors count it: both from 1, columns in characters of Unicode.
struct TextPlace {
    let line: Int
    let column: Int

    /// The place of the byte at `offset`; behind the last one where the text ends too early.
    init(offset: Int, in bytes: [UInt8]) {
        let before = bytes.prefix(offset)
        let isNewline = { (byte: UInt8) in byte == UInt8(ascii: "\n") }
        self.line = before.count(where: isNewline) + 1
        let line = before.suffix(from: before.lastIndex(where: isNewline).map { $0 + 1 } ?? before.startIndex)
        // The bytes of a character after its first are 10xxxxxx.
        self.column = line.count { $0 & 0xC0 != 0x80 } + 1
    }
}
