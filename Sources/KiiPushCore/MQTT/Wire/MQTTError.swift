/// Bytes that are not MQTT, or a value that MQTT cannot carry. Never contains payload, topic or credentials.
package struct MQTTError: Error, Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        case remainingLengthTooLong, tooShort, textNotUTF8, textHoldsNull, topicName, topicFilter, noEntries, packetID
        /// A packet that the peer may not send, now or ever.
        case unexpected
        case reservedPacketType(UInt8)
        case flags(UInt8)
        case tooLarge(length: Int, maximum: Int)
        case bytesLeftOver(Int)
        case textTooLong(Int)
        case entryCount(Int)
        case unknownPacketID(UInt16)
        case qos(UInt8)
        case unsupportedProtocol(level: UInt8)
        case connectFlags(UInt8)
        case acknowledgeFlags(UInt8)
        case returnCode(UInt8)
    }

    package var reason: Reason
    package var packetType: MQTTPacketType?

    package init(_ reason: Reason, in packetType: MQTTPacketType? = nil) {
        self.reason = reason
        self.packetType = packetType
    }

    func found(in packetType: MQTTPacketType) -> MQTTError { MQTTError(self.reason, in: packetType) }
}

extension MQTTError: CustomStringConvertible {
    package var description: String { "\(self.fault); \(self.reason.advice)" }

    var fault: String {
        let text = self.packetType == .publish ? "its topic" : "a text"
        return "malformed MQTT \(self.packetType?.name ?? "packet"): \(self.reason.fault(of: text))"
    }
}

extension MQTTError.Reason {
    /// Section numbers refer to MQTT 3.1.1.
    fileprivate func fault(of text: String) -> String {
        switch self {
        case .remainingLengthTooLong: "its length takes more than four bytes"  // 2.2.3
        case .reservedPacketType(let value): "packet type \(value) does not exist"  // 2.2.1
        case .flags(let value): "flags \(value) are forbidden here"  // 2.2.2
        case .tooLarge(let length, let maximum): "\(length) bytes, at most \(maximum) are taken"
        case .tooShort: "it ends before its fields do"
        case .bytesLeftOver(let count): "\(count == 1 ? "1 byte" : "\(count) bytes") after its last field"
        case .textNotUTF8: "\(text) is not UTF-8"  // 1.5.3
        case .textHoldsNull: "\(text) holds U+0000"  // 1.5.3
        case .textTooLong(let length): "a text of \(length) bytes, at most 65535 fit"  // 1.5.3
        case .topicName: "the topic is empty or holds a wildcard"  // 3.3.2.1, 4.7.3
        case .topicFilter: "the topic filter is empty or has a misplaced wildcard"  // 4.7.1
        case .noEntries: "it has no entry"  // 3.8.3, 3.9.3
        case .entryCount(let count): "\(count) answers to another number of questions"  // 3.8.4
        case .packetID: "its packet identifier is missing or 0"  // 2.3.1
        case .unknownPacketID(let value): "packet identifier \(value) belongs to no request"
        case .qos(let value): "QoS \(value) does not exist"  // 3.3.1.2, 3.8.3
        case .unsupportedProtocol(let level): "protocol level \(level) is neither 3.1.1 nor 3.1"  // 3.1.2.1, 3.1.2.2
        case .connectFlags(let value): "connect flags \(value) contradict each other, or ask for a will"  // 3.1.2.3
        case .acknowledgeFlags(let value): "acknowledge flags \(value) are reserved"  // 3.2.2.1
        case .returnCode(let value): "return code \(value) does not exist"  // 3.9.3
        case .unexpected: "it may not come at this point"
        }
    }

    fileprivate var advice: String {
        switch self {
        case .textTooLong, .topicName, .topicFilter: "check the topic, the client identifier and the credentials"
        case .tooLarge: "allow larger packets, or send less"
        default: "check that the port is the broker's, and speaks MQTT 3.1.1 or 3.1 without WebSocket"
        }
    }
}
