import KiiPushCore

/// What is known of a client's session with its broker, and of the broker's packet identifiers.
struct Numbering {
    var connection = 0
    var hasSent = false
    /// Whether the process has seen a connection begin with another identifier than 1.
    var isKept = false
    /// When the broker's present session or state began.
    var since: MonotonicInstant
    /// The session went back to an old copy, so that packet identifiers are used again: an agent trusts none of them.
    var isReused = false
    /// The agent's last CONNECT has no answer.
    private var isAsking = false
    /// When the agent has read CONNACK after its last CONNECT, by which it notes that the session is the same.
    private var answeredAt: MonotonicInstant?
    /// Until then the agent may have missed that the broker has a new session, and takes nothing of before for a
    /// repetition.
    private(set) var inDoubtUntil: MonotonicInstant?

    init(since: MonotonicInstant) { self.since = since }

    /// The agent has a connection. It may note its doubt from here on, and be killed before it sends CONNECT.
    mutating func connected() { self.answeredAt = nil }

    /// The agent sends CONNECT.
    mutating func asks(at now: MonotonicInstant) {
        if self.isAsking { self.inDoubtUntil = now }
        self.isAsking = true
    }

    /// The agent has read CONNACK.
    mutating func answered(at now: MonotonicInstant) {
        self.isAsking = false
        self.answeredAt = now
    }

    /// - Parameter end: of the process before, if it was killed. The note takes a moment until it is on file.
    mutating func processBegan(at now: MonotonicInstant, after end: MonotonicInstant?) {
        self.isKept = false
        let isNoted = self.answeredAt.map { answered in end.map { $0 - answered >= .milliseconds(200) } ?? true }
        if isNoted != true { self.inDoubtUntil = now }
        self.isAsking = false
    }
}
