/// Links that wait until the store has written its notes about them. Loop thread only.
struct HeldLinks {
    /// The links that wait for the next commit.
    private var waiting: [BrokerLink] = []
    /// The links that wait for the commit that is under way.
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

    /// Returns the links that may go on.
    ///
    /// - Parameter hasMore: whether the store has notes that no commit has taken yet.
    mutating func take(hasMore: Bool) -> [BrokerLink] {
        if !hasMore {
            self.free += self.waiting
            self.waiting = []
        }
        defer { self.free = [] }
        return self.free
    }
}
