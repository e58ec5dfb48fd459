extension MQTTSession {
    /// What a call asks its caller to do: act on the events, then take the messages, then send the bytes, then close. Calls
    /// append to it, so that one turn of the loop can use one output for all of them.
    package struct Output: Sendable, Hashable {
        /// To be sent as they are, in order.
        package var bytes: [UInt8] = []
        /// In order of reception.
        package var messages: [InboundMessage] = []
        package var events: [Event] = []
        /// Set when the connection is over. The session says no more until the transport was closed.
        package var close: Close?

        package init() {}

        /// Keeps the memory.
        package mutating func removeAll() {
            self.bytes.removeAll(keepingCapacity: true)
            self.messages.removeAll(keepingCapacity: true)
            self.events.removeAll(keepingCapacity: true)
            self.close = nil
        }
    }

    package enum Close: Sendable, Hashable { case atOnce, afterFlush }

    /// A PUBLISH that came in.
    package struct InboundMessage: Sendable, Hashable {
        /// Compare it by its UTF-8: two topics can be equal as Swift strings and differ as MQTT topics.
        package var topic: String
        package var payload: [UInt8]
        package var qos: QoS
        /// The broker has sent this packet before, or says so. It does not say that this side has received it before.
        package var duplicate: Bool
        /// The broker has sent a message of QoS 2 with this packet identifier before and has not released it since: this is
        /// that message again, [MQTT-4.3.3-2], if its bytes are the same.
        package var isUnreleased: Bool
        package var retain: Bool
        /// `nil` at QoS 0.
        package var packetID: UInt16?
        /// Opens the gate of this message's acknowledgement; `nil` at QoS 0, which has none. Never used twice.
        package var ticket: UInt64?
        /// The length that the payload had, where it was larger than this side takes and was cut.
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
        /// The broker accepted and the subscription stands. `sessionPresent` is `nil` where the protocol cannot say (3.1).
        case connected(sessionPresent: Bool?, grantedQoS: QoS)
        /// The connection is over.
        case connectionRefused(ConnackCode)
        /// After ``connectionRefused(_:)`` with code 1: the next connection of this session speaks `to`. A broker that
        /// refuses 3.1 as well may be another one by then, so the two are tried in turn.
        case protocolVersionChanged(to: MQTTVersion)
        /// The connection is over.
        case subscriptionRefused
        /// The broker begins a new session, cannot say (3.1), or may have begun one with a CONNECT before, whose answer never
        /// came: what earlier connections brought says nothing about what comes from now on. Told with CONNACK, since the
        /// new session is there although SUBACK may never arrive.
        case sessionMayBeNew
        /// After ``sessionMayBeNew``: the broker no longer has the session that this side expected. Messages may be missing,
        /// and what was not acknowledged will not come again.
        case sessionLost
        /// The broker has read this connection's acknowledgements up to this ticket: none of these messages comes again.
        case acknowledgementsProven(through: UInt64)
        /// What the broker had to send again from earlier connections, it has sent.
        case redeliveryWindowPassed
        /// PINGREQ was not answered. The connection is over.
        case keepAliveMissed
        /// For CONNACK or SUBACK. The connection is over.
        case timedOut(waitingFor: MQTTPacketType)
        /// The broker sent what is not MQTT. The connection is over.
        case protocolError(MQTTError)
        /// The configuration holds what MQTT cannot carry. The connection is over.
        case unsendable(MQTTError)
    }
}
