import KiiPushCore

/// What the proxy's thread goes by.
struct ProxyRules {
    private struct Armed {
        var rule: PacketRule
        var left: Int
        var fired: @Sendable () -> Void
    }

    var plan = ProxyPlan()
    /// Set by a rule: the connection whose packet met it is to be cut.
    var cut: Cut?
    let observer: any ProxyObserver
    private var armed: [Armed] = []
    private var armedBytes: (rule: ByteRule, left: Int, fired: @Sendable () -> Void)?
    private var fired: [@Sendable () -> Void] = []
    /// Until when the acknowledgements of a user are held back; `nil` for everybody's.
    private var holds: [(username: String?, end: MonotonicInstant)] = []

    init(observer: any ProxyObserver) { self.observer = observer }

    mutating func arm(_ rule: PacketRule, fired: @escaping @Sendable () -> Void) {
        self.armed.append(Armed(rule: rule, left: rule.nth, fired: fired))
    }

    mutating func arm(_ rule: ByteRule, fired: @escaping @Sendable () -> Void) {
        self.armedBytes = (rule, rule.bytes, fired)
    }

    /// Holds back what a receiver acknowledges, and what it says afterwards.
    mutating func holdAcknowledgements(of username: String?, until end: MonotonicInstant) {
        self.holds.append((username, end))
    }

    /// Forgets what was asked for.
    mutating func reset() { self = ProxyRules(observer: self.observer) }

    /// How long a packet is held back.
    mutating func delay(of type: MQTTPacketType, _ direction: Direction, from username: String?) -> Duration {
        guard !self.holds.isEmpty, direction == .toBroker, type == .puback || type == .pubrec else {
            return self.plan.delay
        }
        let now = MonotonicInstant.now()
        self.holds.removeAll { $0.end <= now }
        let ends = self.holds.filter { $0.username == nil || $0.username == username }.map(\.end)
        return ends.max().map { $0 - now } ?? self.plan.delay
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
    mutating func action(
        _ type: MQTTPacketType, _ direction: Direction, of username: String?
    ) -> PacketRule.Action? {
        func isMeant(_ armed: Armed) -> Bool {
            let rule = armed.rule
            return rule.type == type && rule.direction == direction
                && (rule.username == nil || rule.username == username)
        }
        for index in self.armed.indices where isMeant(self.armed[index]) { self.armed[index].left -= 1 }
        // Where two rules want the same packet, the older one has it and the other one the next.
        guard let index = self.armed.firstIndex(where: { $0.left <= 0 && isMeant($0) }) else { return nil }
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
}
