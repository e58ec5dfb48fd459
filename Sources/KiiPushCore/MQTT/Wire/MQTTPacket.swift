/// A packet of MQTT 3.1.1 and 3.1, in either direction: receivers, publishers and the brokers of the tests share one codec.
/// Nobody here unsubscribes.
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
    case pingreq, pingresp, disconnect

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
            var flags = self.type.fixedFlags ?? 0
            var body: [UInt8] = []
            switch self {
            case .connect(let connect): try connect.encodeBody(into: &body)
            case .connack(let connack): connack.encodeBody(into: &body, version: version)
            case .publish(let publish):
                flags = publish.flags
                try publish.encodeBody(into: &body)
            case .puback(let packetID), .pubrec(let packetID), .pubrel(let packetID), .pubcomp(let packetID):
                try body.appendPacketID(packetID)
            case .subscribe(let subscribe): try subscribe.encodeBody(into: &body)
            case .suback(let suback): try suback.encodeBody(into: &body)
            case .pingreq, .pingresp, .disconnect: break
            }
            try MQTTFixedHeader(type: self.type, flags: flags, remainingLength: body.count).encode(into: &bytes)
            bytes.append(contentsOf: body)
        } catch {
            bytes.removeSubrange(start...)
            throw error.found(in: self.type)
        }
    }

    /// Reads what follows the fixed header. A body that was cut is not a packet.
    package init(header: MQTTFixedHeader, body: RawSpan, version: MQTTVersion = .v3_1_1) throws(MQTTError) {
        guard body.byteCount == header.remainingLength else {
            throw MQTTError(.tooLarge(length: header.remainingLength, maximum: body.byteCount), in: header.type)
        }
        do throws(MQTTError) {
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
            case .unsubscribe, .unsuback: throw MQTTError(.unexpected)
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
