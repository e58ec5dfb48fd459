/// What the file counts: one row of it, written once a transaction that changes it.
struct InboxLedger: Equatable {
    var lastSequence: Int64 = 0
    var counts = InboxCounts()
    /// Messages that arrived: stored, or recognised as one that is.
    var received: Int64 = 0
    /// Of these, those that were recognised.
    var duplicates: Int64 = 0
    /// Done rows that were removed.
    var pruned: Int64 = 0
    /// Rows that were removed and not done, and that nobody dropped.
    var expired: Int64 = 0
    /// Messages that were not done and that a damaged file, or one that is gone, no longer held.
    var lost: Int64 = 0
    /// Rows that a person removed before they were done.
    var dropped: Int64 = 0

    /// Whether nothing in it is negative, or more than there can be, so that it can be reckoned with.
    var isPlausible: Bool {
        func isPlausible(_ number: Int64) -> Bool { number >= 0 && number <= 1 << 56 }
        guard isPlausible(self.lastSequence), isPlausible(self.received), isPlausible(self.duplicates),
            isPlausible(self.pruned), isPlausible(self.expired), isPlausible(self.lost), isPlausible(self.dropped)
        else { return false }
        return RowState.allCases.allSatisfy { isPlausible(self.counts[$0].rows) && isPlausible(self.counts[$0].bytes) }
    }

    /// How many messages were ever stored, each counted once.
    var stored: Int64 { self.received - self.duplicates }

    var unfinished: Int64 { self.counts.rows - self.counts[.done].rows }

    var summary: MessageLedger {
        MessageLedger(
            received: self.received,
            duplicates: self.duplicates,
            waiting: self.counts[.waiting].rows + self.counts[.retry].rows,
            running: self.counts[.inHand].rows,
            presented: self.counts[.presented].rows,
            done: self.counts[.done].rows + self.pruned,
            dead: self.counts[.dead].rows,
            expired: self.expired,
            lost: self.lost,
            dropped: self.dropped
        )
    }
}
