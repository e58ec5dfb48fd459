package struct PendingSubscription: Sendable {
    /// Default pauses after failures that are not temporary.
    package static let pauses = Backoff(from: .seconds(5), upTo: .seconds(300))

    package let target: SubscriptionTarget
    package private(set) var due: MonotonicInstant
    /// Delays after temporary failures.
    private var reconnect: ReconnectPolicy
    /// Delays after failures that are not temporary.
    private var retry: Backoff
    package private(set) var refusals = 0

    package init(
        _ target: SubscriptionTarget, reconnect: ReconnectPolicy.Configuration, retry: Backoff,
        now: MonotonicInstant
    ) {
        self.target = target
        self.due = now
        self.reconnect = ReconnectPolicy(configuration: reconnect)
        self.retry = retry
    }

    /// Notes a failure. After a lasting failure, the agent usually retries, too: a person may repair the cause while
    /// the agent runs.
    ///
    /// - Parameter isRefusal: whether the cloud refused the agent's credentials.
    package mutating func failed(
        _ error: any Error, isRefusal: Bool = false, now: MonotonicInstant
    ) -> (reason: String, delay: Duration) {
        self.refusals = isRefusal ? self.refusals + 1 : 0
        let failure = TemporaryFailure(error)
        let delay =
            if let failure {
                self.reconnect.connectionEnded(.attemptFailed, connectedFor: nil, retryAfter: failure.retryAfter).delay
            } else {
                self.retry.next(jitter: .random(in: 0..<1))
            }
        self.due = now + delay
        return (failure?.reason ?? "\(error)", delay)
    }
}
