import KiiPushCore

/// Counts requests against a ``RequestLimit``: so many from a first one on, then a new count begins.
struct RequestWindow: Sendable {
    private var count = 0
    private var end: Timestamp?

    /// Counts a request.
    ///
    /// - Throws: ``KiiFailure`` 429 with the whole seconds until requests are taken again.
    mutating func count(_ limit: RequestLimit, now: Timestamp) throws(KiiFailure) {
        let end: Timestamp
        if let current = self.end, now < current {
            end = current
        } else {
            end = now + limit.period
            self.count = 0
            self.end = end
        }
        guard self.count < limit.requests else { throw .tooManyRequests(retryAfter: now.secondsRoundedUp(to: end)) }
        self.count += 1
    }
}

extension Timestamp {
    /// Whole seconds until `later`, as `Retry-After` counts them; 0 when it has passed.
    func secondsRoundedUp(to later: Timestamp) -> Int64 {
        max(0, later.millisecondsSinceEpoch - self.millisecondsSinceEpoch + 999) / 1000
    }
}
