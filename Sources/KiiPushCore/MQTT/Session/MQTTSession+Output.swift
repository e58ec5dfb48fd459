extension MQTTSession {
    /// The caller's tasks after a call, in this order: handle the events, take the messages, send the bytes, close.
    /// Calls append to the output.
    package struct Output: Sendable, Hashable {
        package var bytes: [UInt8] = []
        package var messages: [InboundMessage] = []
        package var events: [Event] = []
        /// Set when the connection must close. The session then does nothing until ``MQTTSession/transportClosed()``.
        package var close: Close?

        package init() {}

        package mutating func removeAll() {
            self.bytes.removeAll(keepingCapacity: true)
            self.messages.removeAll(keepingCapacity: true)
            self.events.removeAll(keepingCapacity: true)
            self.close = nil
        }
    }

    package enum Close: Sendable, Hashable { case atOnce, afterFlush }

    package struct InboundMessage: Sendable, Hashable {
        /// Compare the UTF-8: topics that are equal as Swift strings can differ in MQTT.
        package var topic: String
        package var payload: [UInt8]
        package var qos = QoS.atMostOnce
        /// DUP: the broker has sent this packet before. This client may not have received the earlier packet.
        package var duplicate = false
        /// Whether the broker has sent this packet identifier at QoS 2 before, without a PUBREL since. With equal
        /// bytes, this is the same message ([MQTT-4.3.3-2]).
        package var isUnreleased = false
        package var retain = false
        /// `nil` at QoS 0.
        package var packetID: UInt16?
        /// The caller acknowledges the message with this number; `nil` at QoS 0. Never reused.
        package var ticket: UInt64?
        /// The full length of the payload in bytes, if the session cut it; otherwise `nil`.
        package var truncatedLength: Int?
    }

    package enum Event: Sendable, Hashable {
        /// The broker granted the subscription. `sessionPresent` is `nil` in MQTT 3.1, which does not report it.
        case connected(sessionPresent: Bool?, grantedQoS: QoS)
        /// The connection is over.
        case connectionRefused(ConnackCode)
        /// Follows ``connectionRefused(_:)`` with code 1. The next connection uses version `to`; the session tries the
        /// two versions in turn.
        case protocolVersionChanged(to: MQTTVersion)
        /// The connection is over.
        case subscriptionRefused
        /// The broker created a new session, or may have: MQTT 3.1 does not report it, and an unanswered CONNECT may
        /// have created one. Packet identifiers of earlier connections are then meaningless.
        case sessionMayBeNew
        /// Follows ``sessionMayBeNew``: the broker has lost the expected session. Messages may be missing.
        case sessionLost
        /// The broker has read the acknowledgements up to this ticket, and will not redeliver their messages.
        case acknowledgementsProven(through: UInt64)
        /// The broker had enough time to redeliver messages of earlier connections.
        case redeliveryWindowPassed
        /// PINGRESP was late. The connection is over.
        case keepAliveMissed
        /// CONNACK or SUBACK was late. The connection is over.
        case timedOut(waitingFor: MQTTPacketType)
        case protocolError(MQTTError)
        case unsendable(MQTTError)
    }
}
