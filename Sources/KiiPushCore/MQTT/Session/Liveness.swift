/// Decides when a connection must send PINGREQ, and when its broker counts as gone.
///
/// Each answer has a deadline. Whole messages extend the deadline of SUBACK and PINGRESP, by three keep-alives at most:
/// the broker may have sent them before it read the request. Nothing else extends a deadline, since a machine in
/// between may send bytes for a dead broker.
///
/// While reading is paused no answer can arrive, so the deadlines stand still. The session still sends PINGREQ, since
/// without it the broker closes the connection ([MQTT-3.1.2-24]).
struct Liveness: Sendable {
    /// An expected answer. Its instants are on the clock of `timeRead(at:)`.
    private struct Awaited {
        let answer: MQTTPacketType
        var deadline: MonotonicInstant
        /// The time that each message grants anew.
        let patience: Duration
        /// The latest deadline that messages can reach. None arrive before CONNACK.
        let lastDeadline: MonotonicInstant
    }

    private let interval: Duration, connectTimeout: Duration, answerTimeout: Duration
    private var pausedSince: MonotonicInstant?
    /// The total of the pauses on this connection, without the present one.
    private var paused = Duration.zero
    private var awaited: Awaited?
    private(set) var lastReceived: MonotonicInstant
    /// The time of the last packet sent other than an acknowledgement; `nil` before the broker accepted.
    /// Acknowledgements do not postpone PINGREQ, so each is proven within one interval.
    private var lastRequest: MonotonicInstant?

    /// The most keep-alives that messages can add to an answer's deadline.
    private static let longestExtension = 3

    /// CONNECT was sent.
    init(_ configuration: MQTTSession.Configuration, isPaused: Bool, now: MonotonicInstant) {
        self.interval = configuration.interval
        self.connectTimeout = configuration.connectTimeout
        self.answerTimeout = configuration.answerTimeout
        self.pausedSince = isPaused ? now : nil
        self.lastReceived = now
        self.expect(.connack, within: self.connectTimeout, now: now)
    }

    mutating func bytesReceived(now: MonotonicInstant) { self.lastReceived = now }

    /// Whole ones.
    mutating func messagesReceived(now: MonotonicInstant) {
        guard let awaited else { return }
        let extended = min(self.timeRead(at: now) + awaited.patience, awaited.lastDeadline)
        self.awaited?.deadline = max(awaited.deadline, extended)
    }

    /// Records that CONNACK came and SUBSCRIBE was sent.
    mutating func subscribeSent(now: MonotonicInstant) {
        self.expect(.suback, within: self.connectTimeout, now: now)
        self.lastRequest = now
    }

    mutating func connected(pingIsAwaited: Bool, now: MonotonicInstant) {
        self.awaited = nil
        if self.lastRequest == nil { self.lastRequest = now }
        if pingIsAwaited { self.awaitPong(now: now) }
    }

    mutating func pingSent(now: MonotonicInstant) {
        self.lastRequest = now
        self.awaitPong(now: now)
    }

    /// Records a PINGREQ sent out of turn to test the link: PINGRESP must come within `limit`, even if it answers an
    /// earlier PINGREQ.
    mutating func probeSent(limit: Duration, now: MonotonicInstant) {
        self.lastRequest = now
        self.expect(.pingresp, within: limit, now: now)
    }

    /// Records a PINGRESP. `pingIsAwaited` is whether another is still to come.
    mutating func pongReceived(pingIsAwaited: Bool, now: MonotonicInstant) {
        guard self.awaited?.answer == .pingresp else { return }
        self.awaited = nil
        if pingIsAwaited { self.awaitPong(now: now) }
    }

    mutating func readingPaused(_ isPaused: Bool, now: MonotonicInstant) {
        if let pausedSince, !isPaused {
            self.paused += now - pausedSince
            self.pausedSince = nil
            self.lastReceived = now
        } else if self.pausedSince == nil, isPaused {
            self.pausedSince = now
        }
    }

    func lateAnswer(now: MonotonicInstant) -> MQTTPacketType? {
        self.answerDeadline.flatMap { $0 <= now ? self.awaited?.answer : nil }
    }

    func isPingDue(now: MonotonicInstant) -> Bool { self.pingDeadline.map { $0 <= now } ?? false }

    /// The next time to check for an overdue answer or a due PINGREQ.
    var nextDeadline: MonotonicInstant? { .earlier(self.answerDeadline, self.pingDeadline) }

    private mutating func awaitPong(now: MonotonicInstant) {
        // The first unanswered PINGREQ sets the deadline. Without an interval there is none.
        guard self.awaited == nil, self.interval > .zero else { return }
        self.expect(.pingresp, within: self.answerTimeout, now: now)
    }

    private mutating func expect(_ answer: MQTTPacketType, within limit: Duration, now: MonotonicInstant) {
        let deadline = self.timeRead(at: now) + limit
        let keepAlive = self.interval > .zero ? self.interval : self.answerTimeout
        self.awaited = Awaited(
            answer: answer, deadline: deadline, patience: limit,
            lastDeadline: deadline + keepAlive * Self.longestExtension)
    }

    /// The time on a clock that stops while reading is paused.
    private func timeRead(at now: MonotonicInstant) -> MonotonicInstant {
        (self.pausedSince ?? now) + (.zero - self.paused)
    }

    private var answerDeadline: MonotonicInstant? {
        self.pausedSince == nil ? self.awaited.map { $0.deadline + self.paused } : nil
    }

    private var pingDeadline: MonotonicInstant? {
        self.interval > .zero ? self.lastRequest.map { $0 + self.interval } : nil
    }
}
