/// When one connection must send a PINGREQ, and when its broker counts as gone.
///
/// Each answer has its time. Messages that arrive whole extend the time of SUBACK and PINGRESP, by three keep-alives at
/// most: the broker may have sent them before it read the request. Nothing else extends a time, since something on
/// the way may send bytes for a broker that is gone.
///
/// While reading is paused no answer can come in, so the times stand still. PINGREQ is sent all the same, since the
/// broker hangs up without it ([MQTT-3.1.2-24]).
struct Liveness: Sendable {
    /// An answer that is due. Its instants are those of `timeRead(at:)`.
    private struct Awaited {
        let answer: MQTTPacketType
        /// When it is late.
        var deadline: MonotonicInstant
        /// The time that a message gives it anew.
        let patience: Duration
        /// The latest that messages extend the deadline to. None come before CONNACK.
        let lastDeadline: MonotonicInstant
    }

    private let interval: Duration, connectTimeout: Duration, answerTimeout: Duration
    private var pausedSince: MonotonicInstant?
    /// How long reading was paused on this connection, the present pause left out.
    private var paused = Duration.zero
    private var awaited: Awaited?
    private(set) var lastReceived: MonotonicInstant
    /// When the last packet was sent that is not an acknowledgement; `nil` before the broker accepted. Acknowledgements
    /// do not put PINGREQ off, so that each is proven within one interval.
    private var lastRequest: MonotonicInstant?

    /// So many keep-alives messages extend the time of an answer by, at most.
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

    /// CONNACK came, and SUBSCRIBE was sent.
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

    /// PINGREQ was sent out of turn, since the link may be gone: an answer is due within `limit`, whichever it is to.
    mutating func probeSent(limit: Duration, now: MonotonicInstant) {
        self.lastRequest = now
        self.expect(.pingresp, within: limit, now: now)
    }

    /// PINGRESP came; `pingIsAwaited` tells whether another is still to come.
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

    /// The answer that is late, if one is.
    func lateAnswer(now: MonotonicInstant) -> MQTTPacketType? {
        self.answerDeadline.flatMap { $0 <= now ? self.awaited?.answer : nil }
    }

    func isPingDue(now: MonotonicInstant) -> Bool { self.pingDeadline.map { $0 <= now } ?? false }

    /// When one of the two should be asked next.
    var nextDeadline: MonotonicInstant? { .earlier(self.answerDeadline, self.pingDeadline) }

    private mutating func awaitPong(now: MonotonicInstant) {
        // The first one that is unanswered counts, and without an interval nobody asked to know.
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

    /// The time on a clock that stands still while reading is paused.
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
