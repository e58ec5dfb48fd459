/// How far an installation's backlog has been read past the sources that keep to their share of memory.
struct BacklogScan: Sendable {
    /// Every row that waits, up to this one, is of a source of which messages were left in the store.
    var position: Int64 = 0
    /// Rows may wait before ``position`` that were not there when it passed them.
    var restarts = false
    /// Sources that have room again, by their numbers.
    private var withRoom = Fifo<Int>()
    /// The source that the load under way is for, or the last one was; `nil` for one that goes on from ``position``.
    private(set) var refilled: Int?

    mutating func addRefill(_ source: Int) { self.withRoom.append(source) }

    /// What is to be read next, a source's refill and the scan in turn.
    ///
    /// - Parameters:
    ///   - goesOn: whether rows may wait that the scan has not passed.
    ///   - firstLeft: the first message of a source that was left in the store.
    mutating func next(goesOn: Bool, firstLeft: (Int) -> Int64?) -> DeliveryLoad.Kind? {
        while let source = self.withRoom.first, !goesOn || self.refilled == nil {
            guard let first = firstLeft(source) else {
                _ = self.withRoom.popFirst()
                continue
            }
            // What the scan has not passed it brings itself, in its order.
            guard !goesOn || first <= self.position else { break }
            self.refilled = self.withRoom.popFirst()
            return .scan(after: first - 1)
        }
        guard goesOn else { return nil }
        self.refilled = nil
        if self.restarts { self.position = 0 }
        self.restarts = false
        return .scan(after: self.position)
    }
}
