/// Each `take` method checks the packet's end first, and moves `position` behind its field. Section numbers refer to
/// MQTT 3.1.1.
extension RawSpan {
    func takeByte(at position: inout Int) throws(MQTTError) -> UInt8 {
        guard position < self.byteCount else { throw MQTTError(.tooShort) }
        defer { position += 1 }
        return self.unsafeLoad(fromByteOffset: position, as: UInt8.self)
    }

    /// Most significant byte first (1.5.2).
    func takeNumber(at position: inout Int) throws(MQTTError) -> UInt16 {
        guard self.byteCount - position >= 2 else { throw MQTTError(.tooShort) }
        defer { position += 2 }
        return UInt16(bigEndian: self.unsafeLoadUnaligned(fromByteOffset: position, as: UInt16.self))
    }

    /// Throws for 0, which is not an identifier ([MQTT-2.3.1-1]).
    func takePacketID(at position: inout Int) throws(MQTTError) -> UInt16 {
        let packetID = try self.takeNumber(at: &position)
        guard packetID != 0 else { throw MQTTError(.packetID) }
        return packetID
    }

    func onlyPacketID() throws(MQTTError) -> UInt16 {
        var position = 0
        let packetID = try self.takePacketID(at: &position)
        try self.requireEnd(at: position)
        return packetID
    }

    /// The range of a text or binary field that follows its 16-bit length.
    func takeRange(at position: inout Int) throws(MQTTError) -> Range<Int> {
        let length = Int(try self.takeNumber(at: &position))
        guard length <= self.byteCount - position else { throw MQTTError(.tooShort) }
        defer { position += length }
        return position..<position + length
    }

    func takeText(at position: inout Int) throws(MQTTError) -> String {
        try self.extracting(self.takeRange(at: &position)).text()
    }

    func requireEnd(at position: Int) throws(MQTTError) {
        guard position == self.byteCount else { throw MQTTError(.bytesLeftOver(self.byteCount - position)) }
    }

    /// Throws for invalid UTF-8 and U+0000. Keeps a byte order mark ([MQTT-1.5.3-1] to [MQTT-1.5.3-3]).
    func text() throws(MQTTError) -> String {
        guard let text = self.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw MQTTError(.textNotUTF8)
        }
        guard !text.utf8.contains(0) else { throw MQTTError(.textHoldsNull) }
        return text
    }
}

extension [UInt8] {
    init(copying bytes: RawSpan) {
        // `unsafeUninitializedCapacity` would look up the array's type for each message.
        self = bytes.withUnsafeBytes { [UInt8]($0) }
    }

    mutating func appendNumber(_ number: UInt16) {
        self.append(UInt8(truncatingIfNeeded: number >> 8))
        self.append(UInt8(truncatingIfNeeded: number))
    }

    mutating func appendPacketID(_ packetID: UInt16) throws(MQTTError) {
        guard packetID != 0 else { throw MQTTError(.packetID) }
        self.appendNumber(packetID)
    }

    mutating func appendText(_ text: String) throws(MQTTError) {
        let count = text.utf8.count
        guard count <= Int(UInt16.max) else { throw MQTTError(.textTooLong(count)) }
        guard !text.utf8.contains(0) else { throw MQTTError(.textHoldsNull) }
        self.appendNumber(UInt16(count))
        self.append(contentsOf: text.utf8)
    }

    mutating func appendData(_ data: [UInt8]) throws(MQTTError) {
        guard data.count <= Int(UInt16.max) else { throw MQTTError(.textTooLong(data.count)) }
        self.appendNumber(UInt16(data.count))
        self.append(contentsOf: data)
    }
}
