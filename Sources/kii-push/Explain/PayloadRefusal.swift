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

    var failure: CommandFailure {
        var failure = CommandFailure(describing: self.error)
        if let place { failure.message += " (line \(place.line), column \(place.column))" }
        return failure
    }

    var json: JSONValue {
        let (code, pointer, malformed): (String, String?, JSONError?) =
            switch self.error {
            case .malformed(let error): ("malformed", error.pointer.description, error)
            case .notAnObject: ("not-an-object", "", nil)
            case .thingCommand: ("thing-command", nil, nil)
            }
        return JSONValue.object(present: [
            "code": code, "reason": self.error.description, "pointer": pointer,
            "byte": self.place == nil ? nil : malformed?.byteOffset, "line": self.place?.line,
            "column": self.place?.column,
        ])
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
