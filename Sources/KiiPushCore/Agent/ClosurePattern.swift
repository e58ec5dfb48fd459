/// What a row of connections that the broker accepted and then closed has in common.
///
/// A broker that gets a second CONNECT with the same client ID closes the first connection, [MQTT-3.1.4-2], and
/// MQTT 3.1.1 has no word for why. So two receivers on one installation knock each other off for ever, and each sees no
/// more than this: its connection is closed, the next one is accepted at once with the session in place, and is closed
/// again when the other one has waited as long as it waits. A broker that restarts refuses somebody in between, or has
/// lost the session, or does it hours apart; one that kicks its client does so within a moment; a limit of something on
/// the way (a load balancer's) comes after the same time each time. Pure: no clock.
package struct ClosurePattern: Sendable {
    /// The numbers that the kinds are told apart by.
    package struct Configuration: Sendable, Hashable {
        /// So many closures in a row make a pattern.
        package var closures = 3
        /// A connection that is closed within this was not taken over by somebody who waits before coming back.
        package var kickedWithin: Duration = .milliseconds(500)
        /// Connections that last this long and equally long end by somebody's time limit.
        package var timeLimitFrom: Duration = .seconds(30)
        /// A connection that lasted longer was nobody else's: the past is forgotten. Twice the longest pause that an
        /// agent makes that knows of another receiver, so that it is not taken for the end of the dispute.
        package var undisputedAfter: Duration = .seconds(600)

        package init() {}
    }

    /// What it looks like.
    package enum Kind: Sendable, Hashable {
        /// Like nothing in particular.
        case unclear
        /// The broker accepts the client and closes within a moment, so often in a row.
        case kicked(times: Int)
        /// Something ends each connection after this time: a limit of a load balancer, say.
        case timeLimit(Duration)
        /// Another receiver uses the installation.
        case takenOver

        /// Whether the broker closes because of this very client, so that coming back sooner only makes it worse.
        package var isAgainstUs: Bool {
            switch self {
            case .unclear, .timeLimit: false
            case .kicked, .takenOver: true
            }
        }
    }

    private struct Closure {
        var lifetime: Duration
        /// The pause before its connection was made.
        var pause: Duration
    }

    private let configuration: Configuration
    private var closures: [Closure] = []
    private var kicks = 0
    private var pause = Duration.zero
    /// Whether the installation is in dispute.
    package private(set) var isTakenOver = false

    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// What the latest closures look like.
    package var kind: Kind {
        if self.isTakenOver { return .takenOver }
        if self.kicks >= self.configuration.closures { return .kicked(times: self.kicks) }
        guard self.closures.count == self.configuration.closures, let limit = self.timeLimit else { return .unclear }
        return .timeLimit(limit)
    }

    /// The broker closed a connection.
    ///
    /// - Parameters:
    ///   - lifetime: how long the subscription stood.
    ///   - hadSession: whether the broker had kept the session of the connection before, or cannot say.
    /// - Returns: the evidence, if this closure is the one by which another receiver is recognised.
    package mutating func closed(after lifetime: Duration, hadSession: Bool) -> PushEvent.Takeover? {
        self.ended(after: lifetime)
        guard hadSession, lifetime <= self.configuration.undisputedAfter else {
            if !self.isTakenOver { self.forget() }
            return nil
        }
        guard lifetime >= self.configuration.kickedWithin else {
            self.kicks += 1
            return nil
        }
        self.kicks = 0
        self.closures.append(Closure(lifetime: lifetime, pause: self.pause))
        if self.closures.count > self.configuration.closures { self.closures.removeFirst() }
        guard !self.isTakenOver, self.closures.count == self.configuration.closures, self.timeLimit == nil else {
            return nil
        }
        self.isTakenOver = true
        let pauses = self.closures.dropFirst().reduce(.zero) { $0 + $1.pause }
        return PushEvent.Takeover(
            closures: self.closures.count, within: self.closures.reduce(pauses) { $0 + $1.lifetime })
    }

    /// A connection ended in another way, after `lifetime`, or none came about: that is what a broker that restarts, or a
    /// bad network, looks like.
    package mutating func endedOtherwise(after lifetime: Duration?) {
        if let lifetime { self.ended(after: lifetime) }
        if !self.isTakenOver { self.forget() }
    }

    /// The next connection is made after this pause.
    package mutating func paused(_ pause: Duration) { self.pause = pause }

    private mutating func ended(after lifetime: Duration) {
        if lifetime > self.configuration.undisputedAfter { self.forget() }
    }

    private mutating func forget() {
        self.closures = []
        self.kicks = 0
        self.isTakenOver = false
    }

    private var timeLimit: Duration? {
        let lifetimes = self.closures.map(\.lifetime)
        guard let shortest = lifetimes.min(), let longest = lifetimes.max(),
            shortest >= self.configuration.timeLimitFrom, longest - shortest <= max(.seconds(1), longest / 50)
        else { return nil }
        return shortest
    }
}
