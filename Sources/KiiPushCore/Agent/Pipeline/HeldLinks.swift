/// Links that wait until the store has written what it was told of them. Loop thread only.
struct HeldLinks {
    /// For the next commit.
    private var waiting: [BrokerLink] = []
    /// For the one that is under way.
    private var carried: [BrokerLink] = []
    private var free: [BrokerLink] = []

    mutating func add(_ link: BrokerLink) { self.waiting.append(link) }

    mutating func commitBegins() {
        self.carried += self.waiting
        self.waiting = []
    }

    mutating func commitEnded(isWritten: Bool) {
        if isWritten { self.free += self.carried } else { self.waiting = self.carried + self.waiting }
        self.carried = []
    }

    /// Those that may go on.
    ///
    /// - Parameter hasMore: whether the store was told something that no commit has taken yet.
    mutating func take(hasMore: Bool) -> [BrokerLink] {
        if !hasMore {
            self.free += self.waiting
            self.waiting = []
        }
        defer { self.free = [] }
        return self.free
    }
}
