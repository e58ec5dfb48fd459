/// What a row of connections that the broker accepted and then closed has in common.
///
/// A broker that gets a second CONNECT with the same client ID closes the first connection, [MQTT-3.1.4-2], and
/// MQTT 3.1.1 has no word for why. So two receivers on one installation knock each other off for ever. Each sees no more
/// than this: its connection is closed, and the next one is accepted at once with the session in place and closed again
/// as soon as the other receiver is back, which is within seconds. Several such closures in a row are evidence. A
/// connection that stood is none: a broker restarts, and a link breaks, whenever it will. Nor is a broker that refuses in
/// between, has lost the session, or is gone right after the last of these closures (``BrokerLook``). One that kicks its client closes within a moment; a limit of something on the way (a
/// load balancer's) ends connections after the same time each time. Pure: no clock.
package struct ClosurePattern: Sendable {
    /// The numbers that the kinds are told apart by.
    package struct Configuration: Sendable, Hashable {
        /// So many closures in a row, of connections that did not stand, are another receiver's.
        package var closures = 5
        /// A connection that is closed within this was not taken over by somebody who waits before coming back.
        package var kickedWithin: Duration = .milliseconds(500)
        /// So many connections in a row that are closed within ``kickedWithin``, or after the same time, make a pattern.
        package var repetitions = 3

        package init() {}
    }

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

    private let configuration: Configuration
    private let stableAfter: Duration
    /// The closures of connections that did not stand, in a row, and the pauses between them.
    private var closures = 0
    private var closuresTook = Duration.zero
    private var kicks = 0
    /// How long the last connections stood that were closed one after the other.
    private var lifetimes: [Duration] = []
    /// Whether the installation is in dispute.
    package private(set) var isTakenOver = false

    /// - Parameter stableAfter: a connection that lasts for so long has stood.
    package init(configuration: Configuration = Configuration(), stableAfter: Duration = .seconds(30)) {
        self.configuration = configuration
        self.stableAfter = stableAfter
    }

    /// What the latest closures look like.
    package var kind: Kind {
        if self.isTakenOver { return .takenOver }
        if self.kicks >= self.configuration.repetitions { return .kicked(times: self.kicks) }
        return self.timeLimit.map { .timeLimit($0) } ?? .unclear
    }

    /// The broker closed a connection whose subscription stood for `lifetime`.
    ///
    /// - Parameter hadSession: whether the broker had kept the session of the connection before, or cannot say.
    /// - Returns: the evidence and the remedy, if this closure is the first that shows another receiver.
    package mutating func closed(after lifetime: Duration, hadSession: Bool) -> String? {
        guard lifetime < self.stableAfter else {
            let lifetimes = self.lifetimes
            self.forget()
            if hadSession { self.lifetimes = lifetimes.suffix(self.configuration.repetitions - 1) + [lifetime] }
            return nil
        }
        self.lifetimes = []
        guard hadSession else {
            if !self.isTakenOver { self.forget() }
            return nil
        }
        guard lifetime >= self.configuration.kickedWithin else {
            self.kicks += 1
            return nil
        }
        self.kicks = 0
        self.closures += 1
        self.closuresTook += lifetime
        guard !self.isTakenOver, self.closures == self.configuration.closures else { return nil }
        self.isTakenOver = true
        return
            "another receiver probably uses this installation: the broker closed \(self.closures) connections within "
            + "\(self.closuresTook.components.seconds) s and took the next one at once; a user or thing has one MQTT "
            + "installation, for one receiver: stop the other one, or receive as another user or thing"
    }

    /// A connection ended in another way, after `lifetime`, or none came about: that is what a broker that restarts, or a
    /// bad network, looks like.
    package mutating func endedOtherwise(after lifetime: Duration?) {
        if !self.isTakenOver || lifetime.map({ $0 >= self.stableAfter }) ?? false { self.forget() }
    }

    /// The next connection is made after this pause.
    package mutating func paused(_ pause: Duration) {
        if self.closures > 0 { self.closuresTook += pause }
    }

    private mutating func forget() {
        self.closures = 0
        self.closuresTook = .zero
        self.kicks = 0
        self.lifetimes = []
        self.isTakenOver = false
    }

    private var timeLimit: Duration? {
        guard self.lifetimes.count >= self.configuration.repetitions, let shortest = self.lifetimes.min(),
            let longest = self.lifetimes.max(), longest - shortest <= max(.seconds(1), longest / 50)
        else { return nil }
        return shortest
    }
}
