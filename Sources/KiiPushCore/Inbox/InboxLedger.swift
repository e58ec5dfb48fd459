/// What the file counts: one row of it, written once a transaction that changes it.
struct InboxLedger: Equatable {
    var lastSequence: Int64 = 0
    var counts = InboxCounts()
    // What has no comment here is as in MessageLedger.
    var received: Int64 = 0
    var duplicates: Int64 = 0
    /// Done rows that were removed.
    var pruned: Int64 = 0
    var expired: Int64 = 0
    var lost: Int64 = 0
    var dropped: Int64 = 0

    /// Whether nothing in it is negative, or more than there can be, so that it can be reckoned with.
    var isPlausible: Bool {
        let range: ClosedRange<Int64> = 0...(1 << 56)
        let numbers = [
            self.lastSequence, self.received, self.duplicates, self.pruned, self.expired, self.lost, self.dropped,
        ]
        return numbers.allSatisfy(range.contains)
            && RowState.allCases.allSatisfy {
                range.contains(self.counts[$0].rows) && range.contains(self.counts[$0].bytes)
            }
    }

    /// How many messages were ever stored, each counted once.
    var stored: Int64 { self.received - self.duplicates }
    var unfinished: Int64 { self.counts.rows - self.counts[.done].rows }

    var summary: MessageLedger {
        MessageLedger(
            received: self.received, duplicates: self.duplicates,
            waiting: self.counts[.waiting].rows + self.counts[.retry].rows, running: self.counts[.inHand].rows,
            presented: self.counts[.presented].rows, done: self.counts[.done].rows + self.pruned,
            dead: self.counts[.dead].rows, expired: self.expired, lost: self.lost, dropped: self.dropped)
    }
}
