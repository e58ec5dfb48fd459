/// An answer's value, read leniently: unknown members are ignored, and `null` counts as absent.
package typealias KiiFields = JSONReader<KiiResponseError>

extension KiiFields {
    /// How long a string may be. IDs, tokens and names go into paths and header fields, of which no server takes longer
    /// ones; and what an agent keeps of them fits into its file.
    package static var maximumTextBytes: Int { 8192 }

    /// The first of `keys` that is there, for a field with more than one name.
    private func first(_ keys: [String]) -> Self? {
        for key in keys {
            if let member = self.present(key) { return member }
        }
        return nil
    }

    /// The error that the value, or its member `key`, has this problem.
    func error(_ problem: KiiResponseError.Problem, at key: String? = nil) -> KiiResponseError {
        KiiResponseError(problem, at: key.map { self.pointer.appending($0) } ?? self.pointer, in: self.document)
    }

    /// A string that must be there and hold something.
    package func string(_ key: String) throws(KiiResponseError) -> String {
        let text = try self.required(key).string()
        guard !text.isEmpty else { throw self.error(.empty, at: key) }
        return text
    }

    private func string() throws(KiiResponseError) -> String {
        guard let text = self.value.string else { throw self.error(.wrongType(.string)) }
        guard text.utf8.count <= KiiFields.maximumTextBytes else {
            throw self.error(.tooLong(maximum: KiiFields.maximumTextBytes))
        }
        return text
    }

    /// A token that must be there and hold something.
    func secret(_ key: String) throws(KiiResponseError) -> Secret { Secret(try self.string(key)) }

    /// A string that may be absent, of ``maximumTextBytes`` at most; the first of `keys` that is there.
    package func optionalString(_ keys: String...) throws(KiiResponseError) -> String? {
        try self.first(keys)?.string()
    }

    /// A whole number that may be absent; also taken from a string of digits. The first of `keys` that is there.
    package func optionalInteger(_ keys: String...) throws(KiiResponseError) -> Int64? {
        try self.first(keys)?.wholeNumber()
    }

    private func wholeNumber() throws(KiiResponseError) -> Int64 {
        guard let number = self.value.int64 ?? self.value.string.flatMap({ Int64($0) }) else {
            throw self.error(.wrongType(.integer))
        }
        return number
    }

    /// A number of seconds that may be absent; the first of `keys` that is there. One that no `Int64` holds counts as
    /// absent, since it means "never".
    package func optionalSeconds(_ keys: String...) throws(KiiResponseError) -> Int64? {
        guard let member = self.first(keys) else { return nil }
        if let number = member.value.double, number >= 0x1p63 { return nil }
        return try member.wholeNumber()
    }

    /// A TCP port that may be absent; 0, on which nobody listens, counts as absent.
    package func optionalPort(_ key: String) throws(KiiResponseError) -> UInt16? {
        guard let number = try self.optionalInteger(key) else { return nil }
        guard let port = UInt16(exactly: number) else { throw self.error(.outOfRange, at: key) }
        return port == 0 ? nil : port
    }

    /// A Boolean that may be absent; also taken from the strings `true` and `false`, which ebisu's installations have.
    package func optionalBool(_ key: String) throws(KiiResponseError) -> Bool? {
        guard let member = self.present(key)?.value else { return nil }
        if let bool = member.bool { return bool }
        switch member.string?.lowercased() {
        case "true": return true
        case "false": return false
        default: throw self.error(.wrongType(.bool), at: key)
        }
    }

    /// A moment in milliseconds that may be absent; the first of `keys` that is there.
    package func optionalTimestamp(_ keys: String...) throws(KiiResponseError) -> Timestamp? {
        guard let member = self.first(keys) else { return nil }
        return Timestamp(millisecondsSinceEpoch: try member.wholeNumber())
    }

    /// The members but those that `isNamed` tells.
    package func members(except isNamed: (String) -> Bool) -> JSONValue {
        .object((self.value.members ?? []).filter { !isNamed($0.key) }.map { ($0.key, $0.value) })
    }

    /// The names of the members that are there, in the order of the answer.
    var names: [String] { (self.value.members ?? []).filter { !$0.value.isNull }.map { $0.key } }

    /// An array of objects that must be there.
    package func objects(_ key: String) throws(KiiResponseError) -> [KiiFields] {
        var objects: [KiiFields] = []
        for element in try self.required(key).elements() { objects.append(try element.object()) }
        return objects
    }
}
