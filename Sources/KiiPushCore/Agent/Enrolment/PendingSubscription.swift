/// One subscription that the cloud has not confirmed yet.
package struct PendingSubscription: Sendable {
    /// The pauses of an agent.
    package static let pauses = Backoff(from: .seconds(5), upTo: .seconds(300))

    package let target: SubscriptionTarget
    /// When it is tried next.
    package private(set) var due: MonotonicInstant
    /// After failures that may pass by themselves.
    private var reconnect: ReconnectPolicy
    /// After all other failures. A person has to act, at an unknown time, so there is no hurry.
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

    /// Notes a failure, and when to try again: the topic may be made, the right granted and the machine mended while the
    /// agent runs. Returns what to say of it.
    ///
    /// - Parameter isRefusal: whether the cloud refuses what the agent signs in with.
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
