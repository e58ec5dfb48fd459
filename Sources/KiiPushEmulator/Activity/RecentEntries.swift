struct RecentEntries<Entry: RecentEntry>: Sendable {
    let maximumCount: Int
    let maximumBytes: Int

    /// Oldest first, from index `first`. Dropped entries leave the array in batches, since a removal moves all later
    /// entries.
    private var stored: [Entry?] = []
    private var first = 0
    private var bytes = 0
    private(set) var lastSequence: Int64 = 0

    init(maximumCount: Int, maximumBytes: Int) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    var all: some Collection<Entry> { self.stored[self.first...].lazy.compactMap { $0 } }

    func entries(after sequence: Int64, limit: Int) -> [Entry] {
        // Sequence numbers have no gaps, so the index follows from the number.
        let kept = Int64(self.stored.count - self.first)
        let skipped = max(0, kept - max(0, self.lastSequence - sequence))
        return self.stored[(self.first + Int(skipped))...].prefix(limit).compactMap { $0 }
    }

    /// The sequence numbers continue, so that readers do not mistake later entries for known entries.
    mutating func removeAll() { (self.stored, self.first, self.bytes) = ([], 0, 0) }

    mutating func append(_ entry: Entry) {
        self.lastSequence += 1
        var entry = entry
        entry.sequence = self.lastSequence
        self.stored.append(entry)
        self.bytes += entry.bytes
        while self.stored.count - self.first > self.maximumCount || self.bytes > self.maximumBytes {
            guard let oldest = self.stored[self.first] else { break }
            self.bytes -= oldest.bytes
            self.stored[self.first] = nil
            self.first += 1
        }
        if self.first >= self.maximumCount {
            self.stored.removeFirst(self.first)
            self.first = 0
        }
    }
}

protocol RecentEntry: Sendable {
    var sequence: Int64 { get set }
    var bytes: Int { get }
}
