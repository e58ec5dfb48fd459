/// Which deliveries are in memory: looked at several times for every message.
struct DeliveryKeySet: Sendable {
    private var received = SequenceMap<Void>()
    /// Few: each is a tap of a user.
    private var opened: Set<Int64> = []

    var count: Int { self.received.count + self.opened.count }

    func contains(_ key: DeliveryKey) -> Bool {
        key.isUserOpened ? self.opened.contains(key.sequence) : self.received[key.sequence] != nil
    }

    /// - Returns: whether it was not there.
    @discardableResult
    mutating func insert(_ key: DeliveryKey) -> Bool {
        if key.isUserOpened { return self.opened.insert(key.sequence).inserted }
        guard self.received[key.sequence] == nil else { return false }
        self.received[key.sequence] = ()
        return true
    }

    mutating func remove(_ key: DeliveryKey) {
        if key.isUserOpened { self.opened.remove(key.sequence) } else { self.received[key.sequence] = nil }
    }
}
