/// The times at which the agent acknowledged messages, for the next write to each message's row. Drops the oldest
/// times.
package struct AcknowledgementTimes {
    /// Rows with consecutive numbers and one time.
    private struct Run {
        var rows: ClosedRange<Int64>
        var at: Timestamp

        func time(of sequence: Int64) -> Timestamp? { self.rows.contains(sequence) ? self.at : nil }
    }

    /// The least number of newest `Run` values to keep. Each takes 24 bytes.
    package static let kept = 8192

    private var runs: [Run] = []
    /// The index in `runs` that the last query found. The next query usually finds the same index.
    private var latest = 0

    package init() {}

    /// Rows come in the order of their numbers.
    package mutating func note(_ sequence: Int64, at now: Timestamp) {
        if let last = self.runs.last, last.rows.upperBound == sequence - 1, last.at == now {
            self.runs[self.runs.count - 1].rows = last.rows.lowerBound...sequence
            return
        }
        if self.runs.count >= 2 * AcknowledgementTimes.kept {
            self.runs.removeFirst(AcknowledgementTimes.kept)
            self.latest = max(0, self.latest - AcknowledgementTimes.kept)
        }
        self.runs.append(Run(rows: sequence...sequence, at: now))
    }

    package mutating func time(of sequence: Int64) -> Timestamp? {
        if self.latest < self.runs.count, let time = self.runs[self.latest].time(of: sequence) { return time }
        var (low, high) = (0, self.runs.count)
        while low < high {
            let middle = (low + high) / 2
            if self.runs[middle].rows.upperBound < sequence { low = middle + 1 } else { high = middle }
        }
        guard low < self.runs.count else { return nil }
        self.latest = low
        return self.runs[low].time(of: sequence)
    }
}
