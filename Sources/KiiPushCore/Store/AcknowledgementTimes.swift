/// When rows were acknowledged, from then until it is written with what is written about them anyway.
///
/// A turn acknowledges what it has stored, whose numbers follow one another: a run of rows with one time. Old runs are
/// forgotten; what was known about their rows is missing in the record then, and nowhere else.
package struct AcknowledgementTimes {
    private struct Run {
        var first: Int64
        var last: Int64
        var at: Timestamp
    }

    /// How many runs are kept at least: 24 bytes each, and as many messages as a turn brings.
    package static let kept = 8192

    private var runs: [Run] = []
    /// Where the last one asked for was: verdicts come in about the order of reception.
    private var latest = 0

    package init() {}

    /// Notes that a row was acknowledged at this time. Rows come in order.
    package mutating func note(_ sequence: Int64, at now: Timestamp) {
        if let last = self.runs.indices.last, self.runs[last].last == sequence - 1, self.runs[last].at == now {
            self.runs[last].last = sequence
            return
        }
        if self.runs.count >= 2 * AcknowledgementTimes.kept {
            self.runs.removeFirst(AcknowledgementTimes.kept)
            self.latest = max(0, self.latest - AcknowledgementTimes.kept)
        }
        self.runs.append(Run(first: sequence, last: sequence, at: now))
    }

    package mutating func time(of sequence: Int64) -> Timestamp? {
        if self.runs.indices.contains(self.latest), let time = self.time(of: sequence, in: self.latest) { return time }
        var (low, high) = (0, self.runs.count)
        while low < high {
            let middle = (low + high) / 2
            if self.runs[middle].last < sequence { low = middle + 1 } else { high = middle }
        }
        guard low < self.runs.count else { return nil }
        self.latest = low
        return self.time(of: sequence, in: low)
    }

    private func time(of sequence: Int64, in index: Int) -> Timestamp? {
        let run = self.runs[index]
        return (run.first...run.last).contains(sequence) ? run.at : nil
    }
}
