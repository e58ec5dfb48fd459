extension MQTTSession {
    /// The caller's tasks after a call: handle the events, then take the messages, then send the bytes, then close.
    /// Calls append to it, so that one turn of the loop can share one output.
    package struct Output: Sendable, Hashable {
        /// Bytes to send, in order.
        package var bytes: [UInt8] = []
        /// Received messages, in order.
        package var messages: [InboundMessage] = []
        package var events: [Event] = []
        /// Set when the connection is over. The session then stays silent until ``MQTTSession/transportClosed()``.
        package var close: Close?

        package init() {}

        /// Empties the output, but keeps its memory.
        package mutating func removeAll() {
            self.bytes.removeAll(keepingCapacity: true)
            self.messages.removeAll(keepingCapacity: true)
            self.events.removeAll(keepingCapacity: true)
            self.close = nil
        }
    }

    package enum Close: Sendable, Hashable { case atOnce, afterFlush }

    /// A received PUBLISH.
    package struct InboundMessage: Sendable, Hashable {
        /// Compare it by its UTF-8: two topics can be equal as Swift strings but different in MQTT.
        package var topic: String
        package var payload: [UInt8]
        package var qos: QoS
        /// DUP: the broker says that it has sent this packet before. This side may not have received it.
        package var duplicate: Bool
        /// Whether the broker has sent a message of QoS 2 with this packet identifier and not released it since. If the
        /// bytes are the same too, this is that message again, [MQTT-4.3.3-2].
        package var isUnreleased: Bool
        package var retain: Bool
        /// `nil` at QoS 0.
        package var packetID: UInt16?
        /// Opens the gate of this message's acknowledgement; `nil` at QoS 0, which has none. Never reused.
        package var ticket: UInt64?
        /// The payload's full length, in bytes, if the session cut an oversized payload; `nil` otherwise.
        package var truncatedLength: Int?

        package init(
            topic: String, payload: [UInt8], qos: QoS = .atMostOnce, duplicate: Bool = false,
            isUnreleased: Bool = false, retain: Bool = false, packetID: UInt16? = nil, ticket: UInt64? = nil,
            truncatedLength: Int? = nil
        ) {
            (self.topic, self.payload, self.qos, self.retain) = (topic, payload, qos, retain)
            (self.duplicate, self.isUnreleased) = (duplicate, isUnreleased)
            (self.packetID, self.ticket, self.truncatedLength) = (packetID, ticket, truncatedLength)
        }
    }

    package enum Event: Sendable, Hashable {
        /// The broker accepted and granted the subscription. `sessionPresent` is `nil` where the protocol cannot say
        /// (3.1).
        case connected(sessionPresent: Bool?, grantedQoS: QoS)
        /// The connection is over.
        case connectionRefused(ConnackCode)
        /// After ``connectionRefused(_:)`` with code 1: the session's next connection uses version `to`. The session
        /// tries the two versions in turn, since a broker that also refuses 3.1 may have been replaced by then.
        case protocolVersionChanged(to: MQTTVersion)
        /// The connection is over.
        case subscriptionRefused
        /// The broker began a new session, cannot say (3.1), or may have begun one for an earlier CONNECT whose answer
        /// never came. Messages of earlier connections then say nothing about later ones. Reported with CONNACK, since
        /// the new session exists even if SUBACK never arrives.
        case sessionMayBeNew
        /// After ``sessionMayBeNew``: the broker no longer has the expected session. Messages may be missing, and it
        /// will not redeliver unacknowledged ones.
        case sessionLost
        /// The broker has read this connection's acknowledgements up to this ticket; it will not redeliver these
        /// messages.
        case acknowledgementsProven(through: UInt64)
        /// The broker has had its time to redeliver messages of earlier connections.
        case redeliveryWindowPassed
        /// PINGRESP did not come in time. The connection is over.
        case keepAliveMissed
        /// CONNACK or SUBACK did not come in time. The connection is over.
        case timedOut(waitingFor: MQTTPacketType)
        /// The broker sent bytes that are not valid MQTT. The connection is over.
        case protocolError(MQTTError)
        /// The configuration holds a value that MQTT cannot carry. The connection is over.
        case unsendable(MQTTError)
    }
}
