package import KiiPushCore

/// The refusal of a payload, for `kii-push explain`.
extension MessageError {
    package func failure(of payload: [UInt8]) -> CommandFailure {
        var failure = CommandFailure(describing: self)
        if let place = self.place(in: payload) {
            failure.message += " (line \(place.line), column \(place.column))"
        }
        return failure
    }

    package func json(of payload: [UInt8]) -> JSONValue {
        let (code, pointer, malformed): (String, String?, JSONError?) =
            switch self {
            case .malformed(let error): ("malformed", error.pointer.description, error)
            case .notAnObject: ("not-an-object", "", nil)
            case .thingCommand: ("thing-command", nil, nil)
            }
        let place = self.place(in: payload)
        return JSONValue.object(present: [
            "code": code, "reason": self.description, "pointer": pointer,
            "byte": place == nil ? nil : malformed?.byteOffset, "line": place?.line, "column": place?.column,
        ])
    }

    private func place(in payload: [UInt8]) -> (line: Int, column: Int)? {
        guard case .malformed(let error) = self, error.code != .empty, error.code != .tooLarge else { return nil }
        return payload.place(of: error.byteOffset)
    }
}
