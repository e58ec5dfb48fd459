/// A JSON object of an answer, read member by member; whatever has the wrong type is an error that says where. Members
/// that nobody asks for are ignored, and `null` counts as absent.
package struct KiiFields: Sendable {
    /// How long a string may be. IDs, tokens and names go into paths and header fields, of which no server takes longer
    /// ones; and what an agent keeps of them fits into its file.
    package static let maximumTextBytes = 8192

    private let value: JSONValue
    private let pointer: JSONPointer
    private let response: KiiResponse

    init(_ value: JSONValue, at pointer: JSONPointer, in response: KiiResponse) throws(KiiResponseError) {
        guard value.kind == .object else { throw KiiResponseError(.wrongType(.object), at: pointer, in: response) }
        (self.value, self.pointer, self.response) = (value, pointer, response)
    }

    /// The member; `nil` where there is none or it is null.
    func member(_ key: String) -> JSONValue? {
        guard let member = self.value[key], !member.isNull else { return nil }
        return member
    }

    private func first(_ keys: [String]) -> (key: String, value: JSONValue)? {
        for key in keys {
            if let member = self.member(key) { return (key, member) }
        }
        return nil
    }

    /// The error that says what is wrong with `key`.
    func error(_ problem: KiiResponseError.Problem, at key: String) -> KiiResponseError {
        KiiResponseError(problem, at: self.pointer.appending(key), in: self.response)
    }

    private func required<Value>(_ value: Value?, _ key: String) throws(KiiResponseError) -> Value {
        guard let value else { throw self.error(.missing, at: key) }
        return value
    }

    /// A string that must be there and hold something.
    package func string(_ key: String) throws(KiiResponseError) -> String {
        let text = try self.required(self.optionalString(key), key)
        guard !text.isEmpty else { throw self.error(.empty, at: key) }
        return text
    }

    /// A token that must be there and hold something.
    func secret(_ key: String) throws(KiiResponseError) -> Secret { Secret(try self.string(key)) }

    /// A string that may be absent, of ``maximumTextBytes`` at most; the first of `keys` that is there, for a field with
    /// more than one name.
    package func optionalString(_ keys: String...) throws(KiiResponseError) -> String? {
        guard let (key, member) = self.first(keys) else { return nil }
        guard let text = member.string else { throw self.error(.wrongType(.string), at: key) }
        guard text.utf8.count <= KiiFields.maximumTextBytes else {
            throw self.error(.tooLong(maximum: KiiFields.maximumTextBytes), at: key)
        }
        return text
    }

    /// A whole number that may be absent; also taken from a string of digits. The first of `keys` that is there.
    package func optionalInteger(_ keys: String...) throws(KiiResponseError) -> Int64? {
        try self.optionalInteger(keys)
    }

    private func optionalInteger(_ keys: [String]) throws(KiiResponseError) -> Int64? {
        guard let (key, member) = self.first(keys) else { return nil }
        guard let number = member.int64 ?? member.string.flatMap({ Int64($0) }) else {
            throw self.error(.wrongType(.integer), at: key)
        }
        return number
    }

    /// A number of seconds that may be absent; the first of `keys` that is there. One that no `Int64` holds counts as
    /// absent, since it means "never".
    package func optionalSeconds(_ keys: String...) throws(KiiResponseError) -> Int64? {
        guard let (key, member) = self.first(keys) else { return nil }
        if let number = member.double, number >= 0x1p63 { return nil }
        return try self.optionalInteger(key)
    }

    /// A TCP port that may be absent; 0, on which nobody listens, counts as absent.
    package func optionalPort(_ key: String) throws(KiiResponseError) -> UInt16? {
        guard let number = try self.optionalInteger(key) else { return nil }
        guard let port = UInt16(exactly: number) else { throw self.error(.outOfRange, at: key) }
        return port == 0 ? nil : port
    }

    /// A Boolean that may be absent; also taken from the strings `true` and `false`, which ebisu's installations have.
    package func optionalBool(_ key: String) throws(KiiResponseError) -> Bool? {
        guard let member = self.member(key) else { return nil }
        if let bool = member.bool { return bool }
        switch member.string?.lowercased() {
        case "true": return true
        case "false": return false
        default: throw self.error(.wrongType(.bool), at: key)
        }
    }

    /// A moment in milliseconds that may be absent; the first of `keys` that is there.
    package func optionalTimestamp(_ keys: String...) throws(KiiResponseError) -> Timestamp? {
        try self.optionalInteger(keys).map { Timestamp(millisecondsSinceEpoch: $0) }
    }

    /// The members but those that `isNamed` tells.
    package func members(except isNamed: (String) -> Bool) -> JSONValue {
        .object((self.value.members ?? []).filter { !isNamed($0.key) }.map { ($0.key, $0.value) })
    }

    /// An array of objects that must be there.
    package func objects(_ key: String) throws(KiiResponseError) -> [KiiFields] {
        var objects: [KiiFields] = []
        for element in try self.elements(key) { objects.append(try element.fields()) }
        return objects
    }

    /// An array of anything that must be there.
    func elements(_ key: String) throws(KiiResponseError) -> [KiiElement] {
        guard let elements = try self.required(self.member(key), key).array else {
            throw self.error(.wrongType(.array), at: key)
        }
        let pointer = self.pointer.appending(key)
        return elements.enumerated().map { index, element in
            KiiElement(value: element, pointer: pointer.appending(index), response: self.response)
        }
    }

    /// An object that must be there.
    func object(_ key: String) throws(KiiResponseError) -> KiiFields {
        try KiiFields(self.required(self.member(key), key), at: self.pointer.appending(key), in: self.response)
    }

    /// The names of the members that are there, in the order of the answer.
    var names: [String] { (self.value.members ?? []).filter { !$0.value.isNull }.map { $0.key } }
}

/// One element of an array of an answer, of whatever type.
struct KiiElement: Sendable {
    fileprivate let value: JSONValue
    fileprivate let pointer: JSONPointer
    fileprivate let response: KiiResponse

    /// The text, if it is one.
    var string: String? { self.value.string }

    /// The members, for reading them by type.
    func fields() throws(KiiResponseError) -> KiiFields {
        try KiiFields(self.value, at: self.pointer, in: self.response)
    }

    /// The error that says what is wrong with the element.
    func error(_ problem: KiiResponseError.Problem) -> KiiResponseError {
        KiiResponseError(problem, at: self.pointer, in: self.response)
    }
}
