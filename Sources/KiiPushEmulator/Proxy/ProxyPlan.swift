package import KiiPushCore

package enum Direction: Sendable, Hashable {
    case toBroker
    case toReceiver
}

package enum Cut: Sendable, Hashable, CaseIterable {
    /// With RST: bytes in flight are lost.
    case reset
    /// With FIN, after the bytes in flight.
    case close
}

/// Effects on everything that passes, until the plan changes.
package struct ProxyPlan: Sendable {
    /// Whether to reset connections as soon as they are made.
    package var refusesConnections = false
    /// Whether to send every byte separately.
    package var splitsIntoBytes = false
    package var delay: Duration = .zero
    /// Whether to replace the broker's packet identifiers on later connections: each counts from 1, as RabbitMQ's do.
    package var renumbersPackets = false

    package init() {}
}

package struct PacketRule: Sendable {
    package enum Action: Sendable, Hashable {
        /// Only calls the closure of the rule's author.
        case pass
        case drop
        /// Sends the packet twice, byte by byte the same.
        case duplicate
        /// Drops the packet and all later ones of its connection in this direction.
        case swallowRest
        /// Cuts the connection before the packet passes.
        case cutInstead(Cut)
        /// Cuts the connection after the packet has passed.
        case cutAfter(Cut)
    }

    package var type: MQTTPacketType
    package var direction: Direction
    /// 1 for the next matching packet, counted from when the rule is set, over all connections.
    package var nth: Int
    package var action: Action
    /// The login name whose packets count; `nil` for everybody's.
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
    /// The number of bytes that pass to the receiver, counted from when the rule is set, over all connections.
    package var bytes: Int
    /// The cut after that, if any; the rest of the received bytes is lost.
    package var cut: Cut?

    package init(bytes: Int, _ cut: Cut? = nil) {
        self.bytes = bytes
        self.cut = cut
    }
}
