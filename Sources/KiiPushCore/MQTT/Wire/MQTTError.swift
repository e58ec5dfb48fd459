/// Bytes that are not MQTT as the specification has it, or a value that MQTT cannot carry.
///
/// It never holds payload, topic or credentials: only what is wrong, where, and how much of it.
package struct MQTTError: Error, Sendable, Hashable {
    /// What is wrong. The sections are those of MQTT 3.1.1.
    package enum Reason: Sendable, Hashable {
        /// A remaining length of more than four bytes (2.2.3).
        case remainingLengthTooLong
        /// A packet type that does not exist (2.2.1).
        case reservedPacketType(UInt8)
        /// Flags that the packet type forbids (2.2.2).
        case flags(UInt8)
        /// More bytes than this side takes.
        case tooLarge(length: Int, maximum: Int)
        /// The packet ends before its fields do.
        case tooShort
        /// The packet goes on after its last field.
        case bytesLeftOver(Int)
        /// A text that is not UTF-8 (1.5.3).
        case textNotUTF8
        /// A text that holds U+0000 (1.5.3).
        case textHoldsNull
        /// A text or password that its 16-bit length cannot describe (1.5.3).
        case textTooLong(Int)
        /// A topic name that is empty or holds a wildcard (3.3.2.1, 4.7.3).
        case topicName
        /// A topic filter that is empty or has a misplaced wildcard (4.7.1).
        case topicFilter
        /// SUBSCRIBE, SUBACK or UNSUBSCRIBE without an entry (3.8.3, 3.9.3, 3.10.3).
        case noEntries
        /// SUBACK with another number of answers than SUBSCRIBE had questions (3.8.4).
        case entryCount(Int)
        /// Packet identifier 0, or none where one is needed (2.3.1).
        case packetID
        /// A packet identifier that belongs to no request of this side.
        case unknownPacketID(UInt16)
        /// A QoS that does not exist (3.3.1.2, 3.8.3).
        case qos(UInt8)
        /// A protocol name and level other than 3.1.1 and 3.1 (3.1.2.1, 3.1.2.2).
        case unsupportedProtocol(level: UInt8)
        /// Flags of CONNECT that contradict each other, or the reserved one (3.1.2.3).
        case connectFlags(UInt8)
        /// Reserved acknowledge flags of CONNACK (3.2.2.1).
        case acknowledgeFlags(UInt8)
        /// A SUBACK answer that does not exist (3.9.3).
        case returnCode(UInt8)
        /// A packet that the other side may not send, or not at this point.
        case unexpected
    }

    /// What is wrong.
    package var reason: Reason
    /// The packet it was found in, where its type was known.
    package var packetType: MQTTPacketType?

    package init(_ reason: Reason, in packetType: MQTTPacketType? = nil) {
        self.reason = reason
        self.packetType = packetType
    }

    /// The same error, said to be of a packet of this type.
    func found(in packetType: MQTTPacketType) -> MQTTError {
        MQTTError(self.reason, in: packetType)
    }
}

extension MQTTError: CustomStringConvertible {
    /// One line: the packet, what is wrong with it, and what to do about it.
    package var description: String {
        let packet = self.packetType?.name ?? "packet"
        return "malformed MQTT \(packet): \(self.reason.text); \(self.reason.advice)"
    }
}

extension MQTTError.Reason {
    fileprivate var text: String {
        switch self {
        case .remainingLengthTooLong: "its length takes more than four bytes"
        case .reservedPacketType(let value): "packet type \(value) does not exist"
        case .flags(let value): "flags \(value) are forbidden here"
        case .tooLarge(let length, let maximum): "\(length) bytes, at most \(maximum) are taken"
        case .tooShort: "it ends before its fields do"
        case .bytesLeftOver(let count): "\(count == 1 ? "1 byte" : "\(count) bytes") after its last field"
        case .textNotUTF8: "a text is not UTF-8"
        case .textHoldsNull: "a text holds U+0000"
        case .textTooLong(let length): "a text of \(length) bytes, at most 65535 fit"
        case .topicName: "the topic is empty or holds a wildcard"
        case .topicFilter: "the topic filter is empty or has a misplaced wildcard"
        case .noEntries: "it has no entry"
        case .entryCount(let count): "\(count) answers to another number of questions"
        case .packetID: "its packet identifier is missing or 0"
        case .unknownPacketID(let value): "packet identifier \(value) belongs to no request"
        case .qos(let value): "QoS \(value) does not exist"
        case .unsupportedProtocol(let level): "protocol level \(level) is neither 3.1.1 nor 3.1"
        case .connectFlags(let value): "connect flags \(value) contradict each other"
        case .acknowledgeFlags(let value): "acknowledge flags \(value) are reserved"
        case .returnCode(let value): "return code \(value) does not exist"
        case .unexpected: "it may not come at this point"
        }
    }

    fileprivate var advice: String {
        switch self {
        case .textTooLong, .topicName, .topicFilter: "check the topic, the client identifier and the credentials"
        case .tooLarge: "allow larger packets, or send less"
        case .remainingLengthTooLong, .reservedPacketType, .flags, .tooShort, .bytesLeftOver, .textNotUTF8,
            .textHoldsNull, .noEntries, .entryCount, .packetID, .unknownPacketID, .qos, .unsupportedProtocol,
            .connectFlags, .acknowledgeFlags, .returnCode, .unexpected:
            "check that the port is the broker's, and speaks MQTT 3.1.1 or 3.1 without WebSocket"
        }
    }
}
