/// Installations by due time, the earliest first. Installations with equal times leave in the order in which they were
/// added.
struct Agenda: Sendable {
    /// The latest first, since removing the last element is cheap.
    private var items: [(due: MonotonicInstant, installation: Int64)] = []

    var nextDue: MonotonicInstant? { self.items.last?.due }

    mutating func add(_ installation: Int64, due: MonotonicInstant) {
        var low = 0
        var high = self.items.count
        while low < high {
            let middle = (low + high) / 2
            if self.items[middle].due > due { low = middle + 1 } else { high = middle }
        }
        self.items.insert((due, installation), at: low)
    }

    mutating func popDue(_ now: MonotonicInstant) -> Int64? {
        guard let last = self.items.last, last.due <= now else { return nil }
        self.items.removeLast()
        return last.installation
    }
}
