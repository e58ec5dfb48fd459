/// Ignores unknown members of an answer, and treats `null` as absent.
package typealias KiiFields = JSONReader<KiiResponseError>

extension KiiFields {
    /// The longest string that is read, in bytes. Servers usually refuse longer values in paths and header fields.
    package static var maximumTextBytes: Int { 8192 }

    private func first(_ keys: [String]) -> Self? {
        for key in keys {
            if let member = self.present(key) { return member }
        }
        return nil
    }

    package func string(_ key: String) throws(KiiResponseError) -> String {
        let text = try self.required(key).string()
        guard !text.isEmpty else { throw self.failure("is empty", at: key) }
        return text
    }

    private func string() throws(KiiResponseError) -> String {
        let text = try self.text()
        guard text.utf8.count <= KiiFields.maximumTextBytes else {
            throw self.failure("is longer than \(KiiFields.maximumTextBytes) bytes")
        }
        return text
    }

    func secret(_ key: String) throws(KiiResponseError) -> Secret { Secret(try self.string(key)) }

    package func optionalString(_ keys: String...) throws(KiiResponseError) -> String? {
        try self.first(keys)?.string()
    }

    package func optionalInteger(_ keys: String...) throws(KiiResponseError) -> Int64? {
        try self.first(keys)?.wholeNumber()
    }

    private func wholeNumber() throws(KiiResponseError) -> Int64 {
        try self.read("a whole number") { $0.int64 ?? $0.string.flatMap { Int64($0) } }
    }

    /// A number beyond `Int64` means "never", and counts as absent.
    package func optionalSeconds(_ keys: String...) throws(KiiResponseError) -> Int64? {
        guard let member = self.first(keys) else { return nil }
        if let number = member.value.double, number >= 0x1p63 { return nil }
        return try member.wholeNumber()
    }

    /// Port 0 counts as absent, since no server listens on it.
    package func optionalPort(_ key: String) throws(KiiResponseError) -> UInt16? {
        guard let number = try self.optionalInteger(key) else { return nil }
        guard let port = UInt16(exactly: number) else { throw self.failure("is no port", at: key) }
        return port == 0 ? nil : port
    }

    /// Also accepts the strings `true` and `false`, which Kii's answers about installations contain.
    package func optionalBool(_ key: String) throws(KiiResponseError) -> Bool? {
        guard let member = self.present(key) else { return nil }
        let flag: Bool = try member.read("true or false") { value in
            switch value.string?.lowercased() {
            case "true": true
            case "false": false
            default: value.bool
            }
        }
        return flag
    }

    package func optionalTimestamp(_ keys: String...) throws(KiiResponseError) -> Timestamp? {
        guard let member = self.first(keys) else { return nil }
        return Timestamp(millisecondsSinceEpoch: try member.wholeNumber())
    }

    package func members(except isNamed: (String) -> Bool) -> JSONValue {
        .object((self.value.members ?? []).filter { !isNamed($0.key) }.map { ($0.key, $0.value) })
    }

    var names: [String] { (self.value.members ?? []).filter { !$0.value.isNull }.map { $0.key } }

    package func objects(_ key: String) throws(KiiResponseError) -> [KiiFields] {
        var objects: [KiiFields] = []
        for element in try self.required(key).elements() { objects.append(try element.object()) }
        return objects
    }
}
