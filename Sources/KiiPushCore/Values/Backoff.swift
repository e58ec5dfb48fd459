/// Pauses between attempts. Each pause is twice the previous one, up to `longest`.
package struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    private var following: Duration

    package init(from first: Duration, upTo longest: Duration) {
        self.first = min(first, longest)
        self.longest = longest
        self.following = self.first
    }

    package mutating func next() -> Duration {
        let pause = self.following
        self.following = min(pause * 2, self.longest)
        return pause
    }

    /// If the last attempt lasted longer than the longest pause, it counts as a success and resets the pauses.
    package mutating func next(after duration: Duration) -> Duration {
        if duration > self.longest { self.reset() }
        return self.next()
    }

    /// Half of the next pause plus a random share of the other half, so that many clients do not retry at once.
    ///
    /// - Parameter jitter: a random number from 0 up to, not including, 1.
    package mutating func next(jitter: Double) -> Duration {
        let pause = self.next()
        return pause / 2 + pause / 2 * jitter
    }

    package mutating func reset() { self.following = self.first }
}
