package import KiiPushCore

package struct PayloadRefusal {
    private let error: MessageError
    private let place: (line: Int, column: Int)?

    package init(_ error: MessageError, of bytes: [UInt8]) {
        self.error = error
        guard case .malformed(let error) = error, error.code != .empty, error.code != .tooLarge else {
            self.place = nil
            return
        }
        self.place = bytes.place(of: error.byteOffset)
    }

    package var failure: CommandFailure {
        var failure = CommandFailure(describing: self.error)
        if let place { failure.message += " (line \(place.line), column \(place.column))" }
        return failure
    }

    package var json: JSONValue {
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
