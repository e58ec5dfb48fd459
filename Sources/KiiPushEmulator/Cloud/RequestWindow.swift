import KiiPushCore

/// Counts requests against a ``RequestLimit``: so many from a first one on, then a new count begins.
struct RequestWindow: Sendable {
    private var count = 0
    /// Before the first request: long ago.
    private var end = Timestamp(millisecondsSinceEpoch: .min)

    /// - Throws: ``KiiFailure`` 429 with the whole seconds until requests are taken again.
    mutating func count(_ limit: RequestLimit, now: Timestamp) throws(KiiFailure) {
        if self.end <= now { (self.count, self.end) = (0, now + limit.period) }
        guard self.count < limit.requests else {
            throw .tooManyRequests(retryAfter: now.secondsRoundedUp(to: self.end))
        }
        self.count += 1
    }
}

extension Timestamp {
    /// Whole seconds until `later`, as `Retry-After` counts them; 0 when it has passed.
    func secondsRoundedUp(to later: Timestamp) -> Int64 {
        max(0, later.millisecondsSinceEpoch - self.millisecondsSinceEpoch + 999) / 1000
    }
}
