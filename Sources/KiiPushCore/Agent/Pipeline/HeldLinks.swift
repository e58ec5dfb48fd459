/// Links that send CONNECT only after the store has written its records of their sessions. Loop thread only.
struct HeldLinks {
    /// Links whose session records are in no commit yet.
    private var waiting: [BrokerLink] = []
    /// Links whose session records are in the commit under way.
    private var carried: [BrokerLink] = []
    private var free: [BrokerLink] = []

    mutating func add(_ link: BrokerLink) { self.waiting.append(link) }

    /// Removes a link whose connection has ended. Otherwise an earlier commit would release its next connection.
    mutating func remove(_ link: BrokerLink) {
        self.waiting.removeAll { $0 === link }
        self.carried.removeAll { $0 === link }
        self.free.removeAll { $0 === link }
    }

    mutating func commitBegins() {
        self.carried += self.waiting
        self.waiting = []
    }

    mutating func commitEnded(isWritten: Bool) {
        if isWritten { self.free += self.carried } else { self.waiting = self.carried + self.waiting }
        self.carried = []
    }

    /// - Parameter hasMore: whether the store has writes that no commit contains yet, such as session records.
    mutating func take(hasMore: Bool) -> [BrokerLink] {
        if !hasMore {
            self.free += self.waiting
            self.waiting = []
        }
        defer { self.free = [] }
        return self.free
    }
}
