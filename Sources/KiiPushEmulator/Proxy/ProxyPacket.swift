package import KiiPushCore

package struct ProxyPacket: Sendable {
    package let header: MQTTFixedHeader
    private var body: [UInt8]
    /// The packet identifier of a PUBLISH with QoS 1 or 2, a PUBACK or a PUBREC; `nil` for other packets.
    package private(set) var packetID: UInt16?
    package private(set) var username: String?
    /// The observer's number for a message, to distinguish messages of equal bytes.
    package var serial: Int?
    private var payloadRange = 0..<0

    init(header: MQTTFixedHeader, body: RawSpan) {
        self.header = header
        self.body = body.withUnsafeBytes { Array($0) }
        switch header.type {
        case .connect:
            // An unreadable CONNECT passes, and the broker refuses it.
            guard case .connect(let connect)? = try? MQTTPacket(header: header, body: body) else { return }
            self.username = connect.username
        case .publish:
            guard let layout = try? MQTTPublishLayout(header: header, body: body) else { return }
            self.packetID = layout.packetID
            self.payloadRange = layout.payload
        case .puback where self.body.count == 2, .pubrec where self.body.count == 2:
            self.packetID = UInt16(self.body[0]) << 8 | UInt16(self.body[1])
        default: break
        }
    }

    /// The payload of a PUBLISH; empty in other packets. A new payload must have the same length.
    package var payload: ArraySlice<UInt8> {
        get { self.body[self.payloadRange] }
        set { self.body.replaceSubrange(self.payloadRange, with: newValue) }
    }

    package var isMarkedDuplicate: Bool { self.header.flags & 0b1000 != 0 }

    mutating func renumber(_ identifier: UInt16) {
        guard self.packetID != nil else { return }
        let position = self.header.type == .publish ? self.payloadRange.lowerBound - 2 : 0
        self.body[position] = UInt8(identifier >> 8)
        self.body[position + 1] = UInt8(identifier & 0xFF)
        self.packetID = identifier
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        // The length came from a packet's header, so encoding cannot fail.
        try? self.header.encode(into: &bytes)
        return bytes + self.body
    }
}
