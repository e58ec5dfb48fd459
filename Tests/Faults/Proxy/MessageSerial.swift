/// What tells messages apart whose bytes are equal to the receiver: a serial that the sender gives each, and that the
/// proxy reads and blanks out. No broker's habits with packet identifiers matter then.
enum MessageSerial {
    private static let key = Array("{\"m\":\"".utf8)
    private static let digits = 7

    /// A payload with a serial and other members.
    static func payload(_ serial: Int, _ members: String) -> [UInt8] {
        let text = String(serial)
        let zeros = String(repeating: "0", count: max(0, self.digits - text.count))
        return self.key + Array("\(zeros)\(text)\",\(members)}".utf8)
    }

    /// Takes the serial out of a payload and leaves zeros; `nil` where there is none.
    static func take(from payload: inout ArraySlice<UInt8>) -> Int? {
        guard payload.starts(with: self.key) else { return nil }
        let field = payload.dropFirst(self.key.count).prefix(self.digits)
        guard field.count == self.digits, let serial = Int(String(decoding: field, as: UTF8.self)) else { return nil }
        for index in field.indices { payload[index] = UInt8(ascii: "0") }
        return serial
    }
}
