#if Postgres
import KiiPushCore

/// What is counted: by all gateways until the session began, and by this one since.
struct PostgresLedger: Sendable {
    private var received: Int64
    private var duplicates: Int64
    private var pruned: Int64
    private var expired: Int64
    private var dropped: Int64
    /// How many messages stand where. Those that are done are the rest of what was stored, at the beginning.
    private(set) var counts = InboxCounts()

    /// - Parameter open: installation, state, how many rows, and how many bytes.
    init(counters: PostgresRows, open: PostgresRows) {
        let numbers = (0..<5).map { counters.integer(0, $0) }
        (self.received, self.duplicates, self.pruned) = (numbers[0], numbers[1], numbers[2])
        (self.expired, self.dropped) = (numbers[3], numbers[4])
        for row in 0..<open.count {
            guard let state = RowState(rawValue: open.integer(row, 1)) else { continue }
            self.counts[state].rows += open.integer(row, 2)
            self.counts[state].bytes += open.integer(row, 3)
        }
        let open = RowState.allCases.reduce(0) { $0 + self.counts[$1].rows }
        self.counts[.done].rows = self.received - self.duplicates - open - self.pruned - self.expired - self.dropped
    }

    mutating func stored(_ bytes: Int64, in state: RowState) {
        self.received += 1
        self.counts[state].rows += 1
        self.counts[state].bytes += bytes
    }

    mutating func absorbed() {
        self.received += 1
        self.duplicates += 1
    }

    mutating func moved(_ bytes: Int64, from former: RowState, to state: RowState) {
        guard former != state else { return }
        self.take(1, bytes, from: former)
        self.counts[state].rows += 1
        self.counts[state].bytes += bytes
    }

    mutating func dropped(_ bytes: Int64, from state: RowState) {
        self.take(1, bytes, from: state)
        if state == .done { self.pruned += 1 } else { self.dropped += 1 }
    }

    mutating func pruned(_ rows: Int64) {
        self.take(rows, 0, from: .done)
        self.pruned += rows
    }

    mutating func expired(_ rows: Int64, _ bytes: Int64) {
        self.take(rows, bytes, from: .dead)
        self.expired += rows
    }

    private mutating func take(_ rows: Int64, _ bytes: Int64, from state: RowState) {
        self.counts[state].rows -= rows
        self.counts[state].bytes -= bytes
    }

    var summary: MessageLedger {
        MessageLedger(
            received: self.received, duplicates: self.duplicates,
            waiting: self.counts[.waiting].rows + self.counts[.retry].rows, running: self.counts[.inHand].rows,
            presented: self.counts[.presented].rows, done: self.counts[.done].rows + self.pruned,
            dead: self.counts[.dead].rows, expired: self.expired, dropped: self.dropped)
    }
}
#endif
