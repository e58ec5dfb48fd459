import KiiPushCore

/// What the proxy's thread goes by, and what it notes.
struct ProxyRules {
    private struct Armed {
        var rule: PacketRule
        var left: Int
        var fired: @Sendable () -> Void
    }

    var plan = ProxyPlan()
    /// Set by a rule: the connection whose packet met it is to be cut.
    var cut: Cut?
    let traffic: Locked<Traffic>
    private var armed: [Armed] = []
    private var armedBytes: (rule: ByteRule, left: Int, fired: @Sendable () -> Void)?
    private var fired: [@Sendable () -> Void] = []

    init(traffic: Locked<Traffic>) { self.traffic = traffic }

    mutating func arm(_ rule: PacketRule, fired: @escaping @Sendable () -> Void) {
        self.armed.append(Armed(rule: rule, left: rule.nth, fired: fired))
    }

    mutating func arm(_ rule: ByteRule, fired: @escaping @Sendable () -> Void) {
        self.armedBytes = (rule, rule.bytes, fired)
    }

    /// How many of so many bytes that cannot be read may pass.
    mutating func passing(_ count: Int, _ direction: Direction) -> Int {
        guard direction == .toReceiver, let armed = self.armedBytes else { return count }
        guard count >= armed.left else {
            self.armedBytes?.left -= count
            return count
        }
        self.armedBytes = nil
        self.fired.append(armed.fired)
        self.cut = armed.rule.cut
        return armed.rule.cut == nil ? count : armed.left
    }

    /// What is to happen to the next packet of this type; `nil` for nothing.
    mutating func action(_ type: MQTTPacketType, _ direction: Direction) -> PacketRule.Action? {
        for index in self.armed.indices
        where self.armed[index].rule.type == type && self.armed[index].rule.direction == direction {
            self.armed[index].left -= 1
        }
        // Where two rules want the same packet, the older one has it and the other one the next.
        guard
            let index = self.armed.firstIndex(where: {
                $0.left <= 0 && $0.rule.type == type
                    && $0.rule.direction == direction
            })
        else { return nil }
        let armed = self.armed.remove(at: index)
        self.fired.append(armed.fired)
        return armed.rule.action
    }

    /// Tells those who wait for a rule, once what it asks for has been done.
    mutating func tellFired() {
        let fired = self.fired
        self.fired.removeAll()
        for tell in fired { tell() }
    }

    /// Notes a packet that reached the other side `copies` times.
    func note(_ packet: Flow.Packet, _ direction: Direction, _ connection: Int, copies: Int) {
        guard let identifier = packet.packetID else { return }
        self.traffic.withLock { traffic in
            switch (packet.header.type, direction) {
            case (.publish, .toReceiver):
                for _ in 0..<copies {
                    traffic.delivered(
                        packet.payload.messageNumber, serial: packet.serial, packetID: identifier,
                        isMarkedDuplicate: packet.isMarkedDuplicate, connection: connection)
                }
            // The receiver has said it, even if nobody hears it; with PUBREC it takes a message of QoS 2.
            case (.puback, .toBroker), (.pubrec, .toBroker):
                traffic.acknowledged(packetID: identifier, connection: connection)
            default: break
            }
        }
    }
}
