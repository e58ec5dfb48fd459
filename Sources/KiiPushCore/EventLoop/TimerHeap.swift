/// Never reused.
package struct TimerID: Sendable, Hashable {
    let number: UInt64
}

/// Timers in the order of deadline, then of scheduling.
package final class TimerHeap {
    private struct Entry {
        var deadline: MonotonicInstant
        var number: UInt64

        func precedes(_ other: Entry) -> Bool { (self.deadline, self.number) < (other.deadline, other.number) }
    }

    private var entries: [Entry] = []
    private var bodies: [UInt64: () -> Void] = [:]
    private var nextNumber: UInt64 = 0

    package init() {}

    package var count: Int { self.bodies.count }

    package func nextDeadline() -> MonotonicInstant? {
        self.dropCancelledRoots()
        return self.entries.first?.deadline
    }

    package func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID {
        let number = self.nextNumber
        self.nextNumber += 1
        self.bodies[number] = body
        self.entries.append(Entry(deadline: deadline, number: number))
        self.siftUp(from: self.entries.count - 1)
        return TimerID(number: number)
    }

    package func cancel(_ id: TimerID) {
        guard self.bodies.removeValue(forKey: id.number) != nil else { return }
        // Keep-alive timers are rescheduled far more often than they fire. Their old entries would fill the heap.
        if self.entries.count > 2 * self.bodies.count + 64 {
            self.entries.removeAll { self.bodies[$0.number] == nil }
            self.entries.sort { $0.precedes($1) }
        }
    }

    package func removeAll() {
        self.entries = []
        self.bodies = [:]
    }

    package var horizon: TimerID { TimerID(number: self.nextNumber) }

    /// Returns only timers that were scheduled before `horizon`: a timer scheduled by another timer's body waits for
    /// the next turn.
    package func popDue(at now: MonotonicInstant, before horizon: TimerID) -> (() -> Void)? {
        self.dropCancelledRoots()
        guard let first = self.entries.first, first.deadline <= now, first.number < horizon.number else { return nil }
        self.removeRoot()
        return self.bodies.removeValue(forKey: first.number)
    }

    private func dropCancelledRoots() {
        while let first = self.entries.first, self.bodies[first.number] == nil { self.removeRoot() }
    }

    private func removeRoot() {
        let last = self.entries.removeLast()
        guard !self.entries.isEmpty else { return }
        self.entries[0] = last
        self.siftDown()
    }

    private func siftUp(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.entries[child].precedes(self.entries[parent]) else { return }
            self.entries.swapAt(child, parent)
            child = parent
        }
    }

    private func siftDown() {
        var parent = 0
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.entries.count {
                if self.entries[child].precedes(self.entries[first]) { first = child }
            }
            guard first != parent else { return }
            self.entries.swapAt(parent, first)
            parent = first
        }
    }
}
