/// The packets of a broker (MQTT 3.1.1, sections 2.2 and 3), coded independently of the library.
enum Wire {
    static func publish(
        topic: String, payload: [UInt8], qos: UInt8, duplicate: Bool, packetID: UInt16?
    ) -> [UInt8] {
        var body = text(topic)
        if let packetID { body += number(packetID) }
        return packet(0x30 | (duplicate ? 0x08 : 0) | qos << 1, body + payload)
    }

    static func connack(sessionPresent: Bool, code: UInt8) -> [UInt8] { packet(0x20, [sessionPresent ? 1 : 0, code]) }
    static func suback(_ packetID: UInt16, _ code: UInt8) -> [UInt8] { packet(0x90, number(packetID) + [code]) }
    static func pubrel(_ packetID: UInt16) -> [UInt8] { packet(0x62, number(packetID)) }
    static let pingresp: [UInt8] = [0xD0, 0]

    struct ClientPacket {
        var type: UInt8
        var body: [UInt8]

        var packetID: UInt16? { self.body.count >= 2 ? UInt16(self.body[0]) << 8 | UInt16(self.body[1]) : nil }
    }

    static func take(_ bytes: inout [UInt8]) -> ClientPacket? {
        var (length, shift, index) = (0, 0, 1)
        while true {
            guard index < bytes.count, index < 5 else { return nil }
            length |= Int(bytes[index] & 0x7F) << shift
            shift += 7
            index += 1
            if bytes[index - 1] & 0x80 == 0 { break }
        }
        guard bytes.count >= index + length else { return nil }
        let packet = ClientPacket(type: bytes[0] >> 4, body: Array(bytes[index..<index + length]))
        bytes.removeFirst(index + length)
        return packet
    }

    private static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] {
        var (header, length) = ([first], body.count)
        repeat {
            header.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
            length >>= 7
        } while length > 0
        return header + body
    }

    private static func text(_ text: String) -> [UInt8] { number(UInt16(text.utf8.count)) + Array(text.utf8) }
    private static func number(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
}
