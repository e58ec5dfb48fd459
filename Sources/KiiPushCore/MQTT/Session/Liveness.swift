/// When one connection must send a PINGREQ, and when its broker counts as gone.
///
/// While reading is paused no answer can come in, so none is waited for; PINGREQ is sent all the same, since the broker
/// hangs up without it ([MQTT-3.1.2-24]).
struct Liveness: Sendable {
    private struct Awaited {
        let answer: MQTTPacketType
        var since: MonotonicInstant
        /// How long it may take, where it was asked for out of turn.
        var limit: Duration?
    }

    private let interval: Duration
    private let connectTimeout: Duration
    private let pingTimeout: Duration
    private var isPaused: Bool
    private var awaited: Awaited?
    private(set) var lastReceived: MonotonicInstant
    /// When the last packet was sent that is not an acknowledgement; `nil` before the broker accepted. Acknowledgements
    /// do not put PINGREQ off, so that each is proven within one interval.
    private var lastRequest: MonotonicInstant?

    /// CONNECT was sent.
    init(_ configuration: MQTTSession.Configuration, isPaused: Bool, now: MonotonicInstant) {
        self.interval = min(max(configuration.keepAlive, .zero), .seconds(65_535))
        self.connectTimeout = configuration.connectTimeout
        self.pingTimeout = configuration.answerTimeout
        self.isPaused = isPaused
        self.lastReceived = now
        self.awaited = Awaited(answer: .connack, since: now)
    }

    mutating func bytesReceived(now: MonotonicInstant) {
        self.lastReceived = now
    }

    /// CONNACK came, and SUBSCRIBE was sent.
    mutating func subscribeSent(now: MonotonicInstant) {
        self.awaited = Awaited(answer: .suback, since: now)
        self.lastRequest = now
    }

    /// The subscription stands.
    mutating func connected(pingIsAwaited: Bool, now: MonotonicInstant) {
        self.awaited = nil
        if self.lastRequest == nil { self.lastRequest = now }
        if pingIsAwaited { self.awaitPong(now: now) }
    }

    /// PINGREQ was sent because it was due.
    mutating func pingSent(now: MonotonicInstant) {
        self.lastRequest = now
        self.awaitPong(now: now)
    }

    /// PINGREQ was sent out of turn, since the link may be gone: an answer is due within `limit`, whichever it is to.
    mutating func probeSent(limit: Duration, now: MonotonicInstant) {
        self.lastRequest = now
        self.awaited = Awaited(answer: .pingresp, since: now, limit: limit)
    }

    /// PINGRESP came; `pingIsAwaited` tells whether another is still to come.
    mutating func pongReceived(pingIsAwaited: Bool, now: MonotonicInstant) {
        guard self.awaited?.answer == .pingresp else { return }
        self.awaited = nil
        if pingIsAwaited { self.awaitPong(now: now) }
    }

    /// An answer that was late when reading went on has its full time again.
    mutating func readingPaused(_ isPaused: Bool, now: MonotonicInstant) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        self.lastReceived = now
        self.awaited?.since = now
    }

    /// The answer that is late, if one is.
    func lateAnswer(now: MonotonicInstant) -> MQTTPacketType? {
        guard let deadline = self.answerDeadline, deadline <= now else { return nil }
        return self.awaited?.answer
    }

    /// Whether PINGREQ is due.
    func isPingDue(now: MonotonicInstant) -> Bool {
        guard let deadline = self.pingDeadline else { return false }
        return deadline <= now
    }

    /// When one of the two should be asked next.
    var nextDeadline: MonotonicInstant? {
        switch (self.answerDeadline, self.pingDeadline) {
        case (let answer?, let ping?): min(answer, ping)
        case (let answer, let ping): answer ?? ping
        }
    }

    private mutating func awaitPong(now: MonotonicInstant) {
        // The first one that is unanswered counts, and without an interval nobody asked to know.
        guard self.awaited == nil, self.interval > .zero else { return }
        self.awaited = Awaited(answer: .pingresp, since: now)
    }

    private var answerDeadline: MonotonicInstant? {
        guard let awaited = self.awaited, !self.isPaused else { return nil }
        // Nothing but CONNACK may come before CONNACK, so bytes put off the other two only.
        if awaited.answer == .connack { return awaited.since + self.connectTimeout }
        let quietSince = max(awaited.since, self.lastReceived)
        return quietSince + (awaited.limit ?? (awaited.answer == .suback ? self.connectTimeout : self.pingTimeout))
    }

    private var pingDeadline: MonotonicInstant? {
        guard let lastRequest = self.lastRequest, self.interval > .zero else { return nil }
        return lastRequest + self.interval
    }
}
