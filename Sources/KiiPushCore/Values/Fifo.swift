/// A queue. Removing the front element takes constant time on average.
package struct Fifo<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    var count: Int { self.elements.count - self.head }
    var isEmpty: Bool { self.head == self.elements.count }
    var first: Element? { self.isEmpty ? nil : self.elements[self.head] }
    var last: Element? { self.isEmpty ? nil : self.elements[self.elements.count - 1] }

    func contains(where isMatch: (Element) -> Bool) -> Bool {
        self.elements[self.head...].contains { $0.map(isMatch) ?? false }
    }

    package mutating func append(_ element: Element) { self.elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard !self.isEmpty else { return nil }
        let element = self.elements[self.head].take()
        self.head += 1
        if self.isEmpty {
            self.elements.removeAll(keepingCapacity: self.elements.capacity <= 4096)
            self.head = 0
        } else if self.head >= 64, self.head * 2 >= self.elements.count {
            // The free front is at least half of the array, so each element moves once on average.
            self.elements.removeFirst(self.head)
            self.head = 0
        }
        return element
    }

    mutating func popLast() -> Element? {
        guard !self.isEmpty else { return nil }
        let last = self.elements.removeLast()
        if self.isEmpty {
            self.elements.removeAll(keepingCapacity: true)
            self.head = 0
        }
        return last
    }

    mutating func popFirst(where isWanted: (Element) -> Bool) -> Element? {
        guard !self.isEmpty, let first = self.elements[self.head], isWanted(first) else { return nil }
        return self.popFirst()
    }

    /// Inserts `element` before the first element for which `isAfter` returns true, or at the end.
    mutating func insert(_ element: Element, before isAfter: (Element) -> Bool) {
        var index = self.head
        while index < self.elements.count, let present = self.elements[index], !isAfter(present) { index += 1 }
        if index == self.head, self.head > 0 {
            self.head -= 1
            self.elements[self.head] = element
        } else {
            self.elements.insert(element, at: index)
        }
    }

    mutating func removeAll(where isMatch: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        var kept: [Element?] = []
        for case .some(let element) in self.elements[self.head...] {
            if isMatch(element) { removed.append(element) } else { kept.append(element) }
        }
        guard !removed.isEmpty else { return [] }
        self.elements = kept
        self.head = 0
        return removed
    }
}

extension Fifo: Sendable where Element: Sendable {}
