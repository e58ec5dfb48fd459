import KiiPushCore

struct ProxyRules {
    private struct Armed {
        var rule: PacketRule
        var left: Int
        var fired: @Sendable () -> Void
    }

    var plan = ProxyPlan()
    var cut: Cut?
    let observer: any ProxyObserver
    private var armed: [Armed] = []
    private var armedBytes: (rule: ByteRule, left: Int, fired: @Sendable () -> Void)?
    private var fired: [@Sendable () -> Void] = []
    /// The end of each delay of acknowledgements. A delay without a user name affects all users.
    private var holds: [(username: String?, end: MonotonicInstant)] = []

    init(observer: any ProxyObserver) { self.observer = observer }

    mutating func arm(_ rule: PacketRule, fired: @escaping @Sendable () -> Void) {
        self.armed.append(Armed(rule: rule, left: rule.nth, fired: fired))
    }

    mutating func arm(_ rule: ByteRule, fired: @escaping @Sendable () -> Void) {
        self.armedBytes = (rule, rule.bytes, fired)
    }

    /// Delays a receiver's acknowledgements and its later packets.
    mutating func holdAcknowledgements(of username: String?, until end: MonotonicInstant) {
        self.holds.append((username, end))
    }

    mutating func reset() { self = ProxyRules(observer: self.observer) }

    mutating func delay(of type: MQTTPacketType, _ direction: Direction, from username: String?) -> Duration {
        guard !self.holds.isEmpty, direction == .toBroker, type == .puback || type == .pubrec else {
            return self.plan.delay
        }
        let now = MonotonicInstant.now()
        self.holds.removeAll { $0.end <= now }
        let ends = self.holds.filter { $0.username == nil || $0.username == username }.map(\.end)
        return ends.max().map { $0 - now } ?? self.plan.delay
    }

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

    mutating func action(
        _ type: MQTTPacketType, _ direction: Direction, of username: String?
    ) -> PacketRule.Action? {
        func isMeant(_ armed: Armed) -> Bool {
            let rule = armed.rule
            return rule.type == type && rule.direction == direction
                && (rule.username == nil || rule.username == username)
        }
        for index in self.armed.indices where isMeant(self.armed[index]) { self.armed[index].left -= 1 }
        // If two rules match a packet, the older rule is carried out. The newer rule applies to the next matching
        // packet.
        guard let index = self.armed.firstIndex(where: { $0.left <= 0 && isMeant($0) }) else { return nil }
        let armed = self.armed.remove(at: index)
        self.fired.append(armed.fired)
        return armed.rule.action
    }

    mutating func tellFired() {
        let fired = self.fired
        self.fired.removeAll()
        for tell in fired { tell() }
    }
}
