/// What the file counts: one row of it, written once a transaction that changes it.
struct InboxLedger: Equatable {
    /// The last sequence given out.
    var lastSequence: Int64 = 0
    var counts = InboxCounts()
    /// Messages that arrived: stored, or recognised as one that is.
    var received: Int64 = 0
    /// Of these, those that were recognised.
    var duplicates: Int64 = 0
    /// Done rows that were removed.
    var pruned: Int64 = 0
    /// Rows that were removed and not done.
    var expired: Int64 = 0

    /// Whether nothing in it is negative, or more than there can be.
    var isPlausible: Bool {
        let tallies = RowState.allCases.map { self.counts[$0] }
        let numbers =
            [self.lastSequence, self.received, self.duplicates, self.pruned, self.expired]
            + tallies.map(\.rows) + tallies.map(\.bytes)
        return numbers.allSatisfy { (0...(1 << 56)).contains($0) }
    }

    /// How many messages are there and not done.
    var unfinished: Int64 { self.counts.rows - self.counts[.done].rows }

    /// The numbers as the world sees them.
    var summary: MessageLedger {
        MessageLedger(
            received: self.received,
            duplicates: self.duplicates,
            waiting: self.counts[.waiting].rows + self.counts[.retry].rows,
            running: self.counts[.inHand].rows,
            presented: self.counts[.presented].rows,
            done: self.counts[.done].rows + self.pruned,
            dead: self.counts[.dead].rows,
            expired: self.expired
        )
    }
}
