/// How many dead letters an inbox file holds, and how many it may hold before reading from the network stops.
public struct DeadLetterStock: Sendable, Hashable {
    /// How many there are.
    public var count: Int64
    /// How many bytes they take: payload, topic and 64 bytes for each.
    public var bytes: Int64
    /// How many there may be: ``PushRuntime/Bounds/deadLetters``.
    public var countLimit: Int64
    /// How many bytes they may take: ``PushRuntime/Bounds/deadLetterBytes``, on a small disk less.
    public var bytesLimit: Int64

    init(_ tally: InboxCounts.Tally, limit: InboxCounts.Tally) {
        (self.count, self.bytes) = (tally.rows, tally.bytes)
        (self.countLimit, self.bytesLimit) = (limit.rows, limit.bytes)
    }

    /// Whether reading from the network stops.
    public var isFull: Bool { self.count >= self.countLimit || self.bytes >= self.bytesLimit }

    /// Whether reading that has stopped goes on: below nine tenths of the limits.
    public var hasRoom: Bool {
        // `countLimit * 9` would overflow where the limit is `Int.max`.
        let count = self.countLimit / 10 * 9 + self.countLimit % 10 * 9 / 10
        return self.count <= count && self.bytes / 9 <= self.bytesLimit / 10
    }

    /// One line: how many there are, and what to do about it when there are too many.
    public var advice: String {
        "the inbox holds \(self.count) dead letters (\(self.bytes >> 10) KiB), as many as it may hold: retry or drop some"
    }
}

/// What agents are told of the dead letters in their inbox.
struct DeadLetterWatch {
    /// How often removals are told.
    private static let interval: Duration = .seconds(60)

    /// Which installations' agents know that dead letters stop reading; `nil` while they do not.
    private var told: Set<Int64>?
    /// How many removals nobody knows of yet.
    private var removals = 0
    private var removalsToldAt: MonotonicInstant?

    /// Whether there are too many dead letters to read from the network. Agents that begin meanwhile are told, too.
    mutating func stopReading(
        _ stock: DeadLetterStock?, of running: () -> Set<Int64>, report: (PushEvent) -> Void
    ) -> Bool {
        guard let stock else { return false }
        if self.told != nil, stock.hasRoom {
            self.told = nil
            report(.receptionResumed)
        }
        guard stock.isFull || self.told != nil else { return false }
        let running = running()
        if !running.isSubset(of: self.told ?? []) { report(.receptionPaused(reason: stock.advice)) }
        self.told = running
        return true
    }

    mutating func removed(_ count: Int, at now: MonotonicInstant, report: (PushEvent) -> Void) {
        self.removals += count
        guard self.removals > 0, self.removalsToldAt.map({ now - $0 >= Self.interval }) ?? true else { return }
        report(.deadLettersRemoved(count: self.removals))
        self.removals = 0
        self.removalsToldAt = now
    }
}
