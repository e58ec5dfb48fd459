/// Pauses before further attempts: each one is twice the one before, up to the longest.
package struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    private var following: Duration

    package init(from first: Duration, upTo longest: Duration) {
        self.first = min(first, longest)
        self.longest = longest
        self.following = self.first
    }

    /// The next pause.
    package mutating func next() -> Duration {
        let pause = self.following
        self.following = min(pause * 2, self.longest)
        return pause
    }

    /// The next pause after an attempt that lasted for `duration`. One that was longer than the longest pause is a success:
    /// the pauses begin anew.
    package mutating func next(after duration: Duration) -> Duration {
        if duration > self.longest { self.reset() }
        return self.next()
    }

    /// A time between half of the next pause and all of it, so that attempts of many do not come at once.
    ///
    /// - Parameter jitter: a number drawn evenly from 0 up to, not including, 1.
    package mutating func next(jitter: Double) -> Duration {
        let pause = self.next()
        return pause / 2 + pause / 2 * jitter
    }

    /// The next pause is the first one again.
    package mutating func reset() { self.following = self.first }
}
