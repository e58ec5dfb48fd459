/// The pattern of a row of connections that the broker accepted and then closed.
///
/// A broker that gets a second CONNECT with the same client ID closes the first connection, [MQTT-3.1.4-2], and MQTT
/// 3.1.1 has no word for why. So two receivers on one installation knock each other off for ever. Each sees only that
/// its connection is closed. The broker accepts the next one at once, with the session in place. It closes that again
/// as soon as the other receiver is back, which is within seconds.
///
/// Several such closures in a row are evidence. These are no evidence:
/// - the end of a connection that stood: a broker restarts, and a link breaks, at any time;
/// - a broker that refuses in between, has lost the session, or is gone right after the last closure (``BrokerLook``).
///
/// A broker that kicks its client closes within a moment. A limit on the way (a load balancer's) ends connections after
/// the same time each time. Pure: no clock.
package struct ClosurePattern: Sendable {
    package struct Configuration: Sendable, Hashable {
        /// The number of closures in a row, of connections that did not stand, that show another receiver.
        package var closures = 5
        /// A connection that lasts less than this was not taken over: another receiver waits before it comes back.
        package var kickedWithin: Duration = .milliseconds(500)
        /// The number of connections in a row that make a pattern: all closed within ``kickedWithin``, or after the
        /// same time.
        package var repetitions = 3

        package init() {}
    }

    package enum Kind: Sendable, Hashable {
        case unclear
        /// The broker accepts the client and closes within a moment, so many times in a row.
        case kicked(times: Int)
        /// Something ends each connection after this time, such as a limit of a load balancer.
        case timeLimit(Duration)
        case takenOver

        /// Whether the broker closes because of this very client, so that an earlier return only makes it worse.
        package var isAgainstUs: Bool {
            switch self {
            case .unclear, .timeLimit: false
            case .kicked, .takenOver: true
            }
        }
    }

    private let configuration: Configuration
    private let stableAfter: Duration
    /// The number of closures in a row of connections that did not stand.
    private var closures = 0
    private var closuresTook = Duration.zero
    private var kicks = 0
    /// The lifetimes of the last connections that the broker closed in a row.
    private var lifetimes: [Duration] = []
    package private(set) var isTakenOver = false

    /// - Parameter stableAfter: a connection that lasts at least so long has stood.
    package init(configuration: Configuration = Configuration(), stableAfter: Duration = .seconds(30)) {
        self.configuration = configuration
        self.stableAfter = stableAfter
    }

    package var kind: Kind {
        if self.isTakenOver { return .takenOver }
        if self.kicks >= self.configuration.repetitions { return .kicked(times: self.kicks) }
        return self.timeLimit.map { .timeLimit($0) } ?? .unclear
    }

    /// Notes that the broker closed a connection whose subscription stood for `lifetime`.
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

    /// Notes that a connection ended in another way, after `lifetime`, or that none came about: the broker restarts, or
    /// the network is bad.
    package mutating func endedOtherwise(after lifetime: Duration?) {
        if !self.isTakenOver || lifetime.map({ $0 >= self.stableAfter }) ?? false { self.forget() }
    }

    /// Notes the pause before the next connection.
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
