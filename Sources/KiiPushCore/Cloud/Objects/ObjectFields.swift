/// Kii's rules for an object's own fields.
///
/// - Source: Kii's reference of an object (its size) and its guides (keys with an underscore are the cloud's own)
extension JSONValue {
    private static let maximumObjectCharacters = 65_534

    func validateObjectFields() throws(KiiInputError) {
        try self.requireObject(
            without: { $0.utf8.first == UInt8(ascii: "_") }, rule: "under a key that does not start with _")
        // Counting characters is necessary only if the bytes, which are never fewer, exceed the limit.
        let bytes = self.serialized()
        let limit = Self.maximumObjectCharacters
        guard bytes.count <= limit || String(decoding: bytes, as: UTF8.self).utf16.count <= limit else {
            throw KiiInputError(.fields, at: JSONPointer(), rule: "at most \(limit) characters as JSON")
        }
    }
}

extension ObjectReference {
    var path: KiiPath { self.bucket.path.appending("objects").appending(self.id, as: .objectID) }
}
