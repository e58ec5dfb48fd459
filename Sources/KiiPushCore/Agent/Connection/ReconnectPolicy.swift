/// The delays before the next attempt, after a connection ended or could not be made: jittered, bounded, kind to the
/// cloud.
///
/// A pure value: it takes an event and returns a ``Decision``. After a loss that only this side saw (a missed
/// keepalive, the network gone) few others are likely to come, so the first retry is quick. When the other side closed,
/// a whole fleet may have lost its broker, so the first retry is spread over ten seconds. Later delays follow
/// decorrelated jitter: each is at most three times the one before. An agent that lost its broker for up to 2 s is back
/// within 12 s.
///
/// Only a connection that lasted resets the policy: agents do not hammer a broker that accepts and kicks. If another
/// receiver seems to use the installation (``ClosurePattern``), the pauses grow to minutes, so that the two do not
/// knock each other off all the time. An endpoint that the broker refuses was mostly replaced: after the first refusal
/// in a row the agent fetches it and tries again without a delay.
package struct ReconnectPolicy: Sendable {
    package struct Configuration: Sendable, Hashable {
        /// The first retry after a loss that only this side saw comes within this time.
        package var firstDelayAfterOwnLoss: Duration = .milliseconds(300)
        /// The first retry after the other side closed comes within this time. So does each further retry as long as
        /// the broker accepts the next connection, also if a short connection was lost in another way.
        package var firstDelayAfterPeerLoss: Duration = .seconds(10)
        /// The shortest delay of the later retries.
        package var baseDelay: Duration = .seconds(1)
        /// The longest delay, except for ``maximumDisputedDelay``.
        package var maximumDelay: Duration = .seconds(120)
        /// The lifetime of a connection that resets the policy.
        package var stableAfter: Duration = .seconds(30)
        /// After this many failures in a row the agent fetches the endpoint again.
        package var failuresBeforeRefresh = 3
        /// After this many refusals in a row that only a person can mend, the agent gives up. The broker refuses a
        /// subscription that the cloud confirms, or the cloud refuses the agent's token. They come minutes apart.
        package var refusalsBeforeGivingUp = 10
        /// The first delay once another receiver is recognised lies between half of this and all of it; each further
        /// one doubles it.
        package var firstDisputedDelay: Duration = .seconds(30)
        package var maximumDisputedDelay: Duration = .seconds(300)
        package var pattern = ClosurePattern.Configuration()

        package init() {}
    }

    package enum Loss: Sendable, Hashable {
        /// Noticed here alone: a keepalive without an answer, an unreachable network.
        case noticedHere
        case closedByPeer
        /// No connection came about, or the broker or the cloud answered with a temporary error.
        case attemptFailed
        /// The other side sent what MQTT forbids, and would send it again: the pauses grow, however long the connection lasted.
        case protocolBroken
        /// CONNACK 4 or 5, or SUBACK 0x80: the credentials or the topic of the endpoint are not (or no longer) good.
        case endpointRefused
    }

    package struct Decision: Sendable, Hashable {
        package var delay: Duration
        package var refreshesEndpoint: Bool
        package var pattern = ClosurePattern.Kind.unclear
        /// Whether a sleep of the machine makes the delay useless, since the network or the time of the failure is
        /// past; see ``ReconnectPolicy/delayAfterSleep(left:jitter:)``.
        package var isShortenedBySleep = true
        /// The evidence of another receiver, if this loss is the first to show it.
        package var takeover: String?
    }

    private let configuration: Configuration
    private var failures = 0
    /// The number of refusals of the endpoint since the last connection.
    private var refusals = 0
    private var lastDelay: Duration?
    private var pattern: ClosurePattern
    private var disputed: Backoff

    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        self.pattern = ClosurePattern(configuration: configuration.pattern, stableAfter: configuration.stableAfter)
        self.disputed = Backoff(from: configuration.firstDisputedDelay, upTo: configuration.maximumDisputedDelay)
    }

    /// Decides when to try again.
    ///
    /// - Parameters:
    ///   - connectedFor: the time since SUBACK or the first message; `nil` if neither came.
    ///   - hadSession: whether the broker had kept the session of the connection before, or cannot say.
    ///   - brokerIsGone: whether a look right after the broker's closure showed that the broker itself is gone.
    ///   - retryAfter: the pause that the server asks for. The delay is never shorter, and up to a tenth longer, so
    ///     that agents with the same answer do not all come at once.
    ///   - jitter: a number drawn evenly from 0 up to, not including, 1.
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
        // A sleep does not shorten the server's pause, nor the pause for another receiver or for a broker that kicks.
        decision.isShortenedBySleep = retryAfter == nil && !decision.pattern.isAgainstUs
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
            // The endpoint was mostly replaced, and the cloud has the new one.
            if self.refusals == 1, retryAfter == nil { return decision }
        }
        decision.refreshesEndpoint =
            loss == .endpointRefused || self.failures % self.configuration.failuresBeforeRefresh == 0
        if let retryAfter {
            decision.delay = retryAfter + retryAfter / 10 * jitter
        } else if loss == .closedByPeer, self.pattern.isTakenOver {
            // Never short: whatever the jitter, each receiver leaves the other at least half of the longest pause.
            decision.delay = self.disputed.next(jitter: jitter)
        } else if wasStable {
            decision.delay = self.firstDelay(after: loss, jitter)
        } else if loss == .closedByPeer || loss == .noticedHere && connectedFor != nil, !decision.pattern.isAgainstUs {
            // The broker is there, and accepts connections.
            decision.delay = self.decorrelatedDelay(jitter, limit: self.configuration.firstDelayAfterPeerLoss)
        } else {
            decision.delay = self.decorrelatedDelay(jitter)
        }
        self.pattern.paused(decision.delay)
        return decision
    }

    /// The delay in place of an immediate attempt, when there is nothing new to try.
    package mutating func nothingNew(jitter: Double = .random(in: 0..<1)) -> Duration {
        self.decorrelatedDelay(jitter)
    }

    /// The delay after a sleep of the machine: at most `left`, which is the rest with the sleep counted.
    package func delayAfterSleep(left: Duration, jitter: Double = .random(in: 0..<1)) -> Duration {
        min(left, self.configuration.firstDelayAfterOwnLoss * jitter)
    }

    private mutating func firstDelay(after loss: Loss, _ jitter: Double) -> Duration {
        let limit =
            loss == .noticedHere
            ? self.configuration.firstDelayAfterOwnLoss : self.configuration.firstDelayAfterPeerLoss
        let delay = limit * jitter
        // The next retry spreads at least as far: a fleet whose broker stays away must not bunch together again. The
        // few early agents find a broker that restarts, and come again within the limit.
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
