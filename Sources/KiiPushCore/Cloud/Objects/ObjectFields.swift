/// Kii's rules for an object's fields: the size is in Kii's reference, the underscore in Kii's guides.
extension JSONValue {
    private static let maximumObjectCharacters = 65_534

    func validateObjectFields() throws(KiiInputError) {
        try self.requireObject(
            without: { $0.utf8.first == UInt8(ascii: "_") }, rule: "under a key that does not start with _")
        // Counts UTF-16 units only if the bytes exceed the limit: a text never has more units than UTF-8 bytes.
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
