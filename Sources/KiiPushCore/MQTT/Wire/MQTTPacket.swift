/// Any packet of MQTT 3.1.1 and 3.1, in either direction: the agent, the emulator's publisher and the brokers of the
/// tests share one codec.
package enum MQTTPacket: Sendable, Hashable {
    case connect(MQTTConnect)
    case connack(MQTTConnack)
    case publish(MQTTPublish)
    case puback(packetID: UInt16)
    case pubrec(packetID: UInt16)
    case pubrel(packetID: UInt16)
    case pubcomp(packetID: UInt16)
    case subscribe(MQTTSubscribe)
    case suback(MQTTSuback)
    case unsubscribe(MQTTUnsubscribe)
    case unsuback(packetID: UInt16)
    case pingreq
    case pingresp
    case disconnect

    package var type: MQTTPacketType {
        switch self {
        case .connect: .connect
        case .connack: .connack
        case .publish: .publish
        case .puback: .puback
        case .pubrec: .pubrec
        case .pubrel: .pubrel
        case .pubcomp: .pubcomp
        case .subscribe: .subscribe
        case .suback: .suback
        case .unsubscribe: .unsubscribe
        case .unsuback: .unsuback
        case .pingreq: .pingreq
        case .pingresp: .pingresp
        case .disconnect: .disconnect
        }
    }

    /// Appends the packet.
    ///
    /// - Throws: ``MQTTError`` when a value does not fit into MQTT; `bytes` is then as it was.
    package func encode(into bytes: inout [UInt8], version: MQTTVersion = .v3_1_1) throws(MQTTError) {
        let start = bytes.count
        do {
            var body: [UInt8] = []
            try self.encodeBody(into: &body, version: version)
            try MQTTFixedHeader(type: self.type, flags: self.flags, remainingLength: body.count).encode(into: &bytes)
            bytes.append(contentsOf: body)
        } catch {
            bytes.removeSubrange(start...)
            throw error.found(in: self.type)
        }
    }

    private var flags: UInt8 {
        if case .publish(let publish) = self { publish.flags } else { self.type.fixedFlags ?? 0 }
    }

    private func encodeBody(into body: inout [UInt8], version: MQTTVersion) throws(MQTTError) {
        switch self {
        case .connect(let connect): try connect.encodeBody(into: &body)
        case .connack(let connack): connack.encodeBody(into: &body, version: version)
        case .publish(let publish): try publish.encodeBody(into: &body)
        case .puback(let packetID), .pubrec(let packetID), .pubrel(let packetID), .pubcomp(let packetID),
            .unsuback(let packetID):
            guard packetID != 0 else { throw MQTTError(.packetID) }
            body.appendNumber(packetID)
        case .subscribe(let subscribe): try subscribe.encodeBody(into: &body)
        case .suback(let suback): try suback.encodeBody(into: &body)
        case .unsubscribe(let unsubscribe): try unsubscribe.encodeBody(into: &body)
        case .pingreq, .pingresp, .disconnect: break
        }
    }

    /// Reads what follows the fixed header. A body that was cut is not a packet.
    package init(header: MQTTFixedHeader, body: RawSpan, version: MQTTVersion = .v3_1_1) throws(MQTTError) {
        guard body.byteCount == header.remainingLength else {
            throw MQTTError(.tooLarge(length: header.remainingLength, maximum: body.byteCount), in: header.type)
        }
        do {
            switch header.type {
            case .connect: self = .connect(try MQTTConnect(decoding: body))
            case .connack: self = .connack(try MQTTConnack(decoding: body, version: version))
            case .publish: self = .publish(try MQTTPublish(decoding: body, header: header))
            case .puback: self = .puback(packetID: try body.onlyPacketID())
            case .pubrec: self = .pubrec(packetID: try body.onlyPacketID())
            case .pubrel: self = .pubrel(packetID: try body.onlyPacketID())
            case .pubcomp: self = .pubcomp(packetID: try body.onlyPacketID())
            case .subscribe: self = .subscribe(try MQTTSubscribe(decoding: body, version: version))
            case .suback: self = .suback(try MQTTSuback(decoding: body))
            case .unsubscribe: self = .unsubscribe(try MQTTUnsubscribe(decoding: body))
            case .unsuback: self = .unsuback(packetID: try body.onlyPacketID())
            case .pingreq:
                try body.requireEnd(at: 0)
                self = .pingreq
            case .pingresp:
                try body.requireEnd(at: 0)
                self = .pingresp
            case .disconnect:
                try body.requireEnd(at: 0)
                self = .disconnect
            }
        } catch {
            throw error.found(in: header.type)
        }
    }
}

extension RawSpan {
    /// The packet identifier that is the whole body.
    func onlyPacketID() throws(MQTTError) -> UInt16 {
        var position = 0
        let packetID = try self.takePacketID(at: &position)
        try self.requireEnd(at: position)
        return packetID
    }
}

extension FrameDecoder {
    /// Takes the next bytes of the stream and returns the packets that they complete.
    package mutating func packets(from bytes: [UInt8]) throws(MQTTError) -> [MQTTPacket] {
        let version = self.version
        var packets: [MQTTPacket] = []
        try self.decode(bytes.span.bytes) { (header, body) throws(MQTTError) in
            packets.append(try MQTTPacket(header: header, body: body, version: version))
        }
        return packets
    }
}
