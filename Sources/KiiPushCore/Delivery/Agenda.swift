/// Things to do at a time, the earliest first; equal times in the order of their coming.
struct Agenda<Element: Sendable>: Sendable {
    private struct Item: Sendable {
        var due: MonotonicInstant
        var element: Element
    }

    /// The latest first, so that the earliest is taken off the end.
    private var items: [Item] = []

    var count: Int { self.items.count }
    var nextDue: MonotonicInstant? { self.items.last?.due }
    var elements: [Element] { self.items.reversed().map(\.element) }

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

    /// Takes out every element that `isMatch` says yes to, the earliest first.
    mutating func removeAll(where isMatch: (Element) -> Bool) -> [Element] {
        let removed = self.items.filter { isMatch($0.element) }.reversed().map(\.element)
        self.items.removeAll { isMatch($0.element) }
        return removed
    }
}
