/// Elements by due time, the earliest first. Elements with equal times leave in the order in which they were added.
struct Agenda<Element: Sendable>: Sendable {
    private struct Item: Sendable {
        var due: MonotonicInstant
        var element: Element
    }

    /// The latest first, since removing the last element is cheap.
    private var items: [Item] = []

    var nextDue: MonotonicInstant? { self.items.last?.due }

    mutating func add(_ element: Element, due: MonotonicInstant) {
        var low = 0
        var high = self.items.count
        while low < high {
            let middle = (low + high) / 2
            if self.items[middle].due > due { low = middle + 1 } else { high = middle }
        }
        self.items.insert(Item(due: due, element: element), at: low)
    }

    mutating func popDue(_ now: MonotonicInstant) -> Element? {
        guard let last = self.items.last, last.due <= now else { return nil }
        self.items.removeLast()
        return last.element
    }
}
