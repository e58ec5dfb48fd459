struct InboxLedger: Equatable {
    var lastSequence: Int64 = 0
    var counts = InboxCounts()
    var received: Int64 = 0
    var duplicates: Int64 = 0
    var pruned: Int64 = 0
    var expired: Int64 = 0
    var lost: Int64 = 0
    var dropped: Int64 = 0

    /// Whether all numbers are in 0...2^56, so that arithmetic cannot overflow.
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

/// Rows and bytes by state. Every transaction updates them, so reading them needs no pass over the rows.
package struct InboxCounts: Sendable, Hashable {
    package struct Tally: Sendable, Hashable {
        package var rows: Int64 = 0
        /// The sum over all rows of payload, topic and ``InboxCounts/rowOverhead``.
        package var bytes: Int64 = 0

        package init(rows: Int64 = 0, bytes: Int64 = 0) { (self.rows, self.bytes) = (rows, bytes) }

        package var half: Tally { Tally(rows: self.rows / 2, bytes: self.bytes / 2) }

        package mutating func add(_ bytes: Int64, rows: Int64 = 1) {
            self.rows += rows
            self.bytes += bytes
        }

        package func isMore(than limit: Tally) -> Bool { self.rows > limit.rows || self.bytes > limit.bytes }
    }

    /// Estimated bytes of a row besides its payload and topic.
    package static let rowOverhead: Int64 = 64
    /// Possible bytes of a row; every MQTT packet is smaller. A damaged file may hold other numbers.
    static let rowBytes: ClosedRange<Int64> = 0...(1 << 30)

    package static func bytes(topic: Int, payload: Int) -> Int64 { Int64(topic + payload) + InboxCounts.rowOverhead }

    private var tallies: [Tally] = .init(repeating: Tally(), count: RowState.allCases.count)

    package init() {}

    package subscript(state: RowState) -> Tally {
        get { self.tallies[Int(state.rawValue)] }
        set { self.tallies[Int(state.rawValue)] = newValue }
    }

    /// Bytes of the messages that wait for a handler: the measure for back-pressure. Excludes presented messages, to
    /// which a user may never react.
    package var pendingBytes: Int64 { self[.waiting].bytes + self[.inHand].bytes + self[.retry].bytes }
    var rows: Int64 { self.tallies.reduce(0) { $0 + $1.rows } }
}
