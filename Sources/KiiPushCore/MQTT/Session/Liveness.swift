/// Decides when a connection must send PINGREQ, and when the broker counts as gone.
///
/// Each expected answer has a deadline. Each complete message extends the deadline of SUBACK and PINGRESP, by at most
/// three keep-alives in total: the broker may have sent the message before reading the request. Other bytes extend no
/// deadline, since a proxy may send bytes for a dead broker.
///
/// While reading is paused, the deadlines stop, but PINGREQ continues ([MQTT-3.1.2-24]).
struct Liveness: Sendable {
    /// The times are on a clock that stops while reading is paused.
    private struct Awaited {
        let answer: MQTTPacketType
        var deadline: MonotonicInstant
        /// The time from each message to the new deadline.
        let patience: Duration
        let lastDeadline: MonotonicInstant
    }

    private let interval: Duration, connectTimeout: Duration, answerTimeout: Duration
    private var pausedSince: MonotonicInstant?
    private var paused = Duration.zero
    private var awaited: Awaited?
    private(set) var lastReceived: MonotonicInstant
    /// When the session sent SUBSCRIBE or its last PINGREQ (early PINGREQ excepted); `nil` before CONNACK.
    /// Acknowledgements do not postpone PINGREQ, so a PINGREQ follows each acknowledgement within one interval.
    private var lastRequest: MonotonicInstant?

    private static let longestExtension = 3

    init(_ configuration: MQTTSession.Configuration, isPaused: Bool, now: MonotonicInstant) {
        self.interval = configuration.interval
        self.connectTimeout = configuration.connectTimeout
        self.answerTimeout = configuration.answerTimeout
        self.pausedSince = isPaused ? now : nil
        self.lastReceived = now
        self.expect(.connack, within: self.connectTimeout, now: now)
    }

    mutating func bytesReceived(now: MonotonicInstant) { self.lastReceived = now }

    /// Call this only for complete messages.
    mutating func messagesReceived(now: MonotonicInstant) {
        guard let awaited else { return }
        let extended = min(self.timeRead(at: now) + awaited.patience, awaited.lastDeadline)
        self.awaited?.deadline = max(awaited.deadline, extended)
    }

    mutating func subscribeSent(now: MonotonicInstant) {
        self.expect(.suback, within: self.connectTimeout, now: now)
        self.lastRequest = now
    }

    mutating func pingSent(now: MonotonicInstant) {
        self.lastRequest = now
        self.awaitPong(now: now)
    }

    /// Any PINGRESP within `limit` is sufficient, even the answer to an earlier PINGREQ.
    mutating func probeSent(limit: Duration, now: MonotonicInstant) {
        self.lastRequest = now
        self.expect(.pingresp, within: limit, now: now)
    }

    mutating func answered(_ answer: MQTTPacketType, pingIsAwaited: Bool, now: MonotonicInstant) {
        guard self.awaited?.answer == answer else { return }
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

    var nextDeadline: MonotonicInstant? { .earlier(self.answerDeadline, self.pingDeadline) }

    private mutating func awaitPong(now: MonotonicInstant) {
        // The first unanswered PINGREQ sets the deadline. Without a keep-alive there is no deadline.
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
