/// Finds out why a broker accepts connections and then closes them, from several closures in a row.
///
/// A broker that gets a second CONNECT with the same client ID closes the first connection ([MQTT-3.1.4-2]). MQTT 3.1.1
/// gives no reason. So two receivers of one installation close each other's connections again and again, every few
/// seconds.
///
/// Several short connections in a row show another receiver. The count starts again if:
/// - A connection lasted for `stableAfter`.
/// - An attempt failed, the session was lost, or the connection ended in another way: the broker may have restarted.
///   Once another receiver is recognised, this case does not count.
package struct ClosurePattern: Sendable {
    package struct Configuration: Sendable, Hashable {
        /// The number of short connections, but longer than ``kickedWithin``, that show another receiver.
        package var closures = 5
        /// A broker that rejects this client closes within this time. Another receiver takes longer to reconnect.
        package var kickedWithin: Duration = .milliseconds(500)
        /// The number of connections in a row that make a pattern: all closed within ``kickedWithin``, or after the
        /// same time.
        package var repetitions = 3

        package init() {}
    }

    package enum Kind: Sendable, Hashable {
        case unclear
        /// The broker accepted and closed this number of connections in a row, each within
        /// ``Configuration/kickedWithin``.
        case kicked(times: Int)
        /// The last connections ended after about this time, such as a limit of a load balancer.
        case timeLimit(Duration)
        case takenOver

        /// Whether the broker closes because of this client, so that a quicker reconnect would not help.
        package var isTargeted: Bool {
            switch self {
            case .unclear, .timeLimit: false
            case .kicked, .takenOver: true
            }
        }
    }

    private let configuration: Configuration
    private let stableAfter: Duration
    private var closures = 0
    private var closuresTook = Duration.zero
    private var kicks = 0
    /// The lifetimes of the last connections, if each lasted for ``stableAfter``.
    private var lifetimes: [Duration] = []
    package private(set) var isTakenOver = false

    /// - Parameter stableAfter: a connection is short if it lasts less than this time.
    package init(configuration: Configuration = Configuration(), stableAfter: Duration = .seconds(30)) {
        self.configuration = configuration
        self.stableAfter = stableAfter
    }

    package var kind: Kind {
        if self.isTakenOver { return .takenOver }
        if self.kicks >= self.configuration.repetitions { return .kicked(times: self.kicks) }
        return self.timeLimit.map { .timeLimit($0) } ?? .unclear
    }

    /// Notes that the broker closed a connection, `lifetime` after SUBACK.
    ///
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

    /// Notes a connection whose end is no sign of another receiver, or a failed attempt (`nil`).
    package mutating func endedOtherwise(after lifetime: Duration?) {
        if !self.isTakenOver || lifetime.map({ $0 >= self.stableAfter }) ?? false { self.forget() }
    }

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
