/// Which deliveries are in memory, and what they weigh there: looked at several times for every message.
struct DeliveryKeySet: Sendable {
    private var received = SequenceMap<Int>()
    /// Few: each is a tap of a user.
    private var opened: [Int64: Int] = [:]

    /// What all of them weigh together.
    private(set) var weight = 0

    func contains(_ key: DeliveryKey) -> Bool { self[key] != nil }

    /// - Returns: whether it was not there.
    @discardableResult
    mutating func insert(_ key: DeliveryKey, weight: Int) -> Bool {
        guard self[key] == nil else { return false }
        self.set(weight, for: key)
        self.weight += weight
        return true
    }

    /// Has one that is there weigh this much from now on.
    mutating func weigh(_ key: DeliveryKey, as weight: Int) {
        guard let before = self[key] else { return }
        self.set(weight, for: key)
        self.weight += weight - before
    }

    mutating func remove(_ key: DeliveryKey) {
        guard let weight = self[key] else { return }
        self.set(nil, for: key)
        self.weight -= weight
    }

    private subscript(key: DeliveryKey) -> Int? {
        key.isUserOpened ? self.opened[key.sequence] : self.received[key.sequence]
    }

    private mutating func set(_ weight: Int?, for key: DeliveryKey) {
        if key.isUserOpened { self.opened[key.sequence] = weight } else { self.received[key.sequence] = weight }
    }
}
