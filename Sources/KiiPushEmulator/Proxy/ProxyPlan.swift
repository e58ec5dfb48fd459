package import KiiPushCore

package enum Direction: Sendable, Hashable {
    case toBroker
    case toReceiver
}

package enum Cut: Sendable, Hashable, CaseIterable {
    /// By a RST packet: bytes in flight are lost.
    case reset
    /// By a FIN packet, after the bytes in flight.
    case close
}

/// Effects on all later bytes and connections, until the plan changes.
package struct ProxyPlan: Sendable {
    package var refusesConnections = false
    package var splitsIntoBytes = false
    package var delay: Duration = .zero
    /// Whether the proxy renumbers PUBLISH packets of QoS 1, from 1 in each connection, as RabbitMQ does. Takes effect
    /// for connections that begin after the change.
    package var renumbersPackets = false

    package init() {}
}

package struct PacketRule: Sendable {
    package enum Action: Sendable, Hashable {
        /// Passes the packet unchanged, but calls the rule's closure.
        case pass
        case drop
        case duplicate
        /// Drops the packet and all later packets of its connection in this direction.
        case swallowRest
        case cutInstead(Cut)
        case cutAfter(Cut)
    }

    package var type: MQTTPacketType
    package var direction: Direction
    /// 1 for the next matching packet after the rule is added, counted over all connections.
    package var nth: Int
    package var action: Action
    /// The user name whose packets count; `nil` for all.
    package var username: String?

    package init(
        _ type: MQTTPacketType, _ direction: Direction, nth: Int = 1, _ action: Action, of username: String? = nil
    ) {
        self.type = type
        self.direction = direction
        self.nth = nth
        self.action = action
        self.username = username
    }
}

/// An effect on a stream that the proxy cannot read, such as TLS.
package struct ByteRule: Sendable {
    /// The number of bytes that pass to the receiver after the rule is added, counted over all connections.
    package var bytes: Int
    /// The cut after these bytes; `nil` for none. With a cut, the rest of the received bytes is lost.
    package var cut: Cut?

    package init(bytes: Int, _ cut: Cut? = nil) {
        self.bytes = bytes
        self.cut = cut
    }
}
