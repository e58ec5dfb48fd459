/// A serial that distinguishes messages with otherwise equal bytes. The sender adds it; the proxy reads it and
/// overwrites it with zeros. So the counts do not depend on packet identifiers, which brokers assign differently.
enum MessageSerial {
    private static let key = Array("{\"m\":\"".utf8)
    private static let digits = 7

    static func payload(_ serial: Int, _ members: String) -> [UInt8] {
        let text = String(serial)
        let zeros = String(repeating: "0", count: max(0, self.digits - text.count))
        return self.key + Array("\(zeros)\(text)\",\(members)}".utf8)
    }

    /// Reads the serial of a payload and overwrites it with zeros; `nil` if there is none.
    static func take(from payload: inout ArraySlice<UInt8>) -> Int? {
        guard payload.starts(with: self.key) else { return nil }
        let field = payload.dropFirst(self.key.count).prefix(self.digits)
        guard field.count == self.digits, let serial = Int(String(decoding: field, as: UTF8.self)) else { return nil }
        for index in field.indices { payload[index] = UInt8(ascii: "0") }
        return serial
    }
}
