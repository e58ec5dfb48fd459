/// Which messages of one source wait in memory, in the order of reception.
///
/// Entries are not taken out when a message's standing changes by other ways: whoever reads checks.
struct MemoryBacklog {
    private var waiting: [Int64] = []
    private var first = 0

    /// Whether nothing is listed.
    var isEmpty: Bool { self.first == self.waiting.count }

    /// Adds a message; one that was given back finds its place before those that came after it.
    mutating func append(waiting sequence: Int64) {
        guard let last = self.waiting.last, self.first < self.waiting.count, last >= sequence else {
            self.waiting.append(sequence)
            return
        }
        let index = self.index(of: sequence)
        guard self.waiting[index] != sequence else { return }
        self.waiting.insert(sequence, at: index)
    }

    /// Messages after this one that still wait, in order.
    func waiting(after sequence: Int64, limit: Int, where isWaiting: (Int64) -> Bool) -> [Int64] {
        Array(self.waiting[self.index(of: sequence + 1)...].lazy.filter(isWaiting).prefix(limit))
    }

    /// Where the first message from this one on stands.
    private func index(of sequence: Int64) -> Int {
        var (low, high) = (self.first, self.waiting.count)
        while low < high {
            let middle = (low + high) / 2
            if self.waiting[middle] < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The first message that still waits, which stays.
    mutating func nextWaiting(where isWaiting: (Int64) -> Bool) -> Int64? {
        while self.first < self.waiting.count {
            let sequence = self.waiting[self.first]
            if isWaiting(sequence) { return sequence }
            self.dropFirstWaiting()
        }
        return nil
    }

    mutating func dropFirstWaiting() {
        self.first += 1
        if self.first == self.waiting.count {
            self.waiting.removeAll(keepingCapacity: true)
            self.first = 0
        } else if self.first >= 4096, self.first * 2 >= self.waiting.count {
            self.waiting.removeFirst(self.first)
            self.first = 0
        }
    }
}
