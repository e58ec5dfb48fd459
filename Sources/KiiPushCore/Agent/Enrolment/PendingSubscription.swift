package struct PendingSubscription: Sendable {
    /// An agent's pauses after failures that do not pass by themselves.
    package static let pauses = Backoff(from: .seconds(5), upTo: .seconds(300))

    package let target: SubscriptionTarget
    package private(set) var due: MonotonicInstant
    /// Delays after failures that may pass by themselves.
    private var reconnect: ReconnectPolicy
    /// Delays after all other failures. A person has to act, at an unknown time, so there is no hurry.
    private var retry: Backoff
    /// The number of consecutive refusals of the agent's credentials.
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

    /// Notes a failure, and returns its reason and the delay before the next attempt. Lasting failures are worth a
    /// retry, too: while the agent runs, a person may make the topic, grant the right or mend the machine.
    ///
    /// - Parameter isRefusal: whether the cloud refuses the agent's credentials.
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
