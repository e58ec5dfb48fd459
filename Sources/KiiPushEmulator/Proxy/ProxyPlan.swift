package import KiiPushCore

/// Which way bytes go.
package enum Direction: Sendable, Hashable {
    case toBroker
    case toReceiver
}

/// How a connection is cut.
package enum Cut: Sendable, Hashable, CaseIterable {
    /// With RST: what was on the way is gone.
    case reset
    /// With FIN, after what was on the way.
    case close
}

/// What the proxy does to everything that passes, until told otherwise.
package struct ProxyPlan: Sendable {
    /// Connections are reset as soon as they are made.
    package var refusesConnections = false
    /// Every byte is sent by itself.
    package var splitsIntoBytes = false
    /// How long each packet is held back.
    package var delay: Duration = .zero
    /// The broker's packet identifiers are replaced on connections made from now on: each counts from 1, as RabbitMQ's do.
    package var renumbersPackets = false

    package init() {}
}

/// What happens to one packet.
package struct PacketRule: Sendable {
    package enum Action: Sendable, Hashable {
        /// Nothing but what the one who sets the rule does then.
        case pass
        case drop
        /// It is sent twice, byte by byte the same.
        case duplicate
        /// It disappears, and all that follows it on its connection in this direction.
        case swallowRest
        /// Neither it nor anything after it passes.
        case cutInstead(Cut)
        /// It passes, and nothing after it.
        case cutAfter(Cut)
    }

    package var type: MQTTPacketType
    package var direction: Direction
    /// 1 for the next one that passes, from when the rule is set, over all connections.
    package var nth: Int
    package var action: Action
    /// Whose packets are counted, by the name that they logged in with; `nil` for everybody's.
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

/// What happens to a stream that cannot be read, such as TLS.
package struct ByteRule: Sendable {
    /// So many bytes pass to the receiver, from when the rule is set, over all connections.
    package var bytes: Int
    /// How the connection is cut then, if it is; the rest of what had come is gone.
    package var cut: Cut?

    package init(bytes: Int, _ cut: Cut? = nil) {
        self.bytes = bytes
        self.cut = cut
    }
}
