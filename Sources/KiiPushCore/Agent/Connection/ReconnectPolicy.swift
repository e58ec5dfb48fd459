/// Decides how long an agent waits after a connection ended or an attempt failed. A pure value.
///
/// If only this side noticed the loss (a missed keepalive, no network), few other agents reconnect, and the first retry
/// is quick. If the broker closed the connection, all its agents may reconnect, so the first retries spread over 10 s.
/// Later delays follow decorrelated jitter: the upper bound grows at most threefold each time. After an outage of up to
/// 2 s, an agent is back within 12 s.
///
/// If another receiver seems to use the installation (``ClosurePattern``), the delays grow to minutes. If the broker
/// refuses the endpoint, the cloud usually has a new one: after the first refusal, the agent asks the cloud at once.
package struct ReconnectPolicy: Sendable {
    package struct Configuration: Sendable, Hashable {
        /// The limit of the first delay after a loss that only this side noticed.
        package var firstDelayAfterOwnLoss: Duration = .milliseconds(300)
        /// The limit of the first delay after the other side closed, and of later delays while the broker accepts
        /// connections.
        package var firstDelayAfterPeerLoss: Duration = .seconds(10)
        package var baseDelay: Duration = .seconds(1)
        /// The longest delay, unless a server asks for more or another receiver is recognised.
        package var maximumDelay: Duration = .seconds(120)
        /// A connection that lasts for this time makes the delays short again, except after ``Loss/protocolBroken``.
        package var stableAfter: Duration = .seconds(30)
        /// After each series of this many failures, the agent asks the cloud for the endpoint again.
        package var failuresBeforeRefresh = 3
        /// The agent gives up after this many refusals in a row. Either the broker refuses a subscription that the
        /// cloud confirms, or the cloud refuses the agent's token.
        package var refusalsBeforeGivingUp = 10
        /// The first delay because of another receiver is between half of this and all of it. Both bounds double with
        /// each further delay, up to ``maximumDisputedDelay``.
        package var firstDisputedDelay: Duration = .seconds(30)
        package var maximumDisputedDelay: Duration = .seconds(300)
        package var pattern = ClosurePattern.Configuration()

        package init() {}
    }

    package enum Loss: Sendable, Hashable {
        /// Only this side noticed, for instance by a keepalive without an answer or an unreachable network.
        case noticedHere
        case closedByPeer
        /// No connection, or a temporary error of the broker or the cloud.
        case attemptFailed
        /// The broker violated MQTT or the WebSocket protocol, and would probably do so again. The delays grow even
        /// after a long connection.
        case protocolBroken
        /// The broker refused the endpoint's credentials (CONNACK 4 or 5) or topic (SUBACK 0x80).
        case endpointRefused
    }

    package struct Decision: Sendable, Hashable {
        package var delay: Duration
        package var refreshesEndpoint: Bool
        package var pattern = ClosurePattern.Kind.unclear
        package var isShortenedBySleep = true
        package var takeover: String?
    }

    private let configuration: Configuration
    private var failures = 0
    private var refusals = 0
    private var lastDelay: Duration?
    private var pattern: ClosurePattern
    private var disputed: Backoff

    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        self.pattern = ClosurePattern(configuration: configuration.pattern, stableAfter: configuration.stableAfter)
        self.disputed = Backoff(from: configuration.firstDisputedDelay, upTo: configuration.maximumDisputedDelay)
    }

    /// Decides about the next attempt.
    ///
    /// - Parameters:
    ///   - brokerIsGone: whether the broker no longer runs after it closed the connection.
    ///   - retryAfter: the server's `Retry-After`. The delay is up to a tenth longer, to spread the clients.
    ///   - jitter: a random number from 0 up to, not including, 1.
    package mutating func connectionEnded(
        _ loss: Loss, connectedFor: Duration?, hadSession: Bool = true, brokerIsGone: Bool = false,
        retryAfter: Duration? = nil, jitter: Double = .random(in: 0..<1)
    ) -> Decision {
        var decision = Decision(delay: .zero, refreshesEndpoint: true)
        if loss == .closedByPeer, !brokerIsGone, let connectedFor {
            decision.takeover = self.pattern.closed(after: connectedFor, hadSession: hadSession)
        } else {
            self.pattern.endedOtherwise(after: connectedFor)
        }
        decision.pattern = self.pattern.kind
        // After a sleep of the machine, most delays end early. A `Retry-After` does not, nor does a delay because
        // another receiver takes over or the broker rejects this client. The sleep always counts as part of the delay.
        decision.isShortenedBySleep = retryAfter == nil && !decision.pattern.isTargeted
        if !self.pattern.isTakenOver { self.disputed.reset() }
        let wasStable = loss != .protocolBroken && connectedFor.map { $0 >= self.configuration.stableAfter } ?? false
        if wasStable {
            self.failures = 0
            self.lastDelay = nil
        }
        if connectedFor != nil { self.refusals = 0 }
        self.failures += 1
        if loss == .endpointRefused {
            self.refusals += 1
            if self.refusals == 1, retryAfter == nil { return decision }
        }
        decision.refreshesEndpoint =
            loss == .endpointRefused || self.failures % self.configuration.failuresBeforeRefresh == 0
        if let retryAfter {
            decision.delay = retryAfter + retryAfter / 10 * jitter
        } else if loss == .closedByPeer, self.pattern.isTakenOver {
            decision.delay = self.disputed.next(jitter: jitter)
        } else if wasStable {
            decision.delay = self.firstDelay(after: loss, jitter)
        } else if loss == .closedByPeer || loss == .noticedHere && connectedFor != nil, !decision.pattern.isTargeted {
            decision.delay = self.decorrelatedDelay(jitter, limit: self.configuration.firstDelayAfterPeerLoss)
        } else {
            decision.delay = self.decorrelatedDelay(jitter)
        }
        self.pattern.paused(decision.delay)
        return decision
    }

    package mutating func nothingNew(jitter: Double = .random(in: 0..<1)) -> Duration {
        self.decorrelatedDelay(jitter)
    }

    /// The delay after a sleep of the machine. `left` is the time that remained when the sleep ended.
    package func delayAfterSleep(left: Duration, jitter: Double = .random(in: 0..<1)) -> Duration {
        min(left, self.configuration.firstDelayAfterOwnLoss * jitter)
    }

    private mutating func firstDelay(after loss: Loss, _ jitter: Double) -> Duration {
        let limit =
            loss == .noticedHere
            ? self.configuration.firstDelayAfterOwnLoss : self.configuration.firstDelayAfterPeerLoss
        let delay = limit * jitter
        // The next delay is up to three times `lastDelay`. If the broker stays away, the retries of many agents must
        // again spread over `limit`.
        self.lastDelay = max(delay < limit / 5 ? limit / 3 : limit, self.configuration.baseDelay)
        return delay
    }

    private mutating func decorrelatedDelay(_ jitter: Double, limit: Duration? = nil) -> Duration {
        let base = self.configuration.baseDelay
        var upper = max(base, (self.lastDelay ?? base) * 3)
        if let limit { upper = min(upper, max(base, limit)) }
        let delay = min(self.configuration.maximumDelay, base + (upper - base) * jitter)
        self.lastDelay = delay
        return delay
    }
}
