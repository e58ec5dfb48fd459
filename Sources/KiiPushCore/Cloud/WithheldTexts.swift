/// Redacts secrets in a server's texts. Compares bytes: `String` does not find a secret that a combining mark follows.
struct WithheldTexts {
    private static let replacement = Array("<redacted>".utf8)

    /// The longest text first, since one secret may begin with another.
    private let texts: [[UInt8]]

    init(_ secrets: [Secret]) {
        // Ignores secrets of fewer than 4 bytes, because ordinary words may contain such short texts.
        self.texts = secrets.map { Array($0.reveal().utf8) }.filter { $0.count >= 4 }.sorted { $0.count > $1.count }
    }

    func isHeld(in text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.indices.contains { self.text(startingAt: $0, in: bytes) != nil }
    }

    func cleaning(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var cleaned: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if let found = self.text(startingAt: position, in: bytes) {
                cleaned += Self.replacement
                position += found.count
            } else {
                cleaned.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: cleaned, as: UTF8.self).withoutCredentials
    }

    func cleaning(_ value: JSONValue) -> JSONValue {
        if let text = value.string { return JSONValue(self.cleaning(text)) }
        if let number = value.number, self.isHeld(in: number.text) { return JSONValue("<redacted>") }
        if let elements = value.array { return JSONValue(elements.map { self.cleaning($0) }) }
        if let members = value.members { return .object(members.map { self.cleaning($0) }) }
        return value
    }

    func cleaning(_ member: JSONMember) -> (String, JSONValue) {
        (self.cleaning(member.key), self.cleaning(member.value))
    }

    private func text(startingAt position: Int, in bytes: [UInt8]) -> [UInt8]? {
        self.texts.first { bytes[position...].starts(with: $0) }
    }
}
