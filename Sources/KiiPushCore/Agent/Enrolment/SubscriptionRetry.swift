/// When to ask again for a subscription that the cloud refuses, because its topic is not there or a right is missing.
///
/// A person has to do something about it, so there is no hurry, and nobody knows when it will be done.
package struct SubscriptionRetry: Sendable {
    private let maximumDelay: Duration
    private var nextDelay: Duration

    /// - Parameter firstDelay: the delay after the first refusal; each one doubles it.
    package init(firstDelay: Duration = .seconds(5), maximumDelay: Duration = .seconds(300)) {
        self.maximumDelay = maximumDelay
        self.nextDelay = firstDelay
    }

    /// When to ask again after one more refusal: from half the delay to all of it, by `jitter` of 0 up to 1.
    package mutating func refused(jitter: Double = .random(in: 0..<1)) -> Duration {
        let delay = min(self.nextDelay, self.maximumDelay)
        self.nextDelay = min(delay * 2, self.maximumDelay)
        return delay / 2 + delay / 2 * jitter
    }
}
