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
    private var answeredAt: MonotonicInstant?
    /// Until then the agent may have missed that the broker has a new session, and takes nothing of before for a
    /// repetition.
    private(set) var inDoubtUntil: MonotonicInstant?

    init(since: MonotonicInstant) { self.since = since }

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

    /// - Parameter end: of the process before, if it was killed.
    mutating func processBegan(at now: MonotonicInstant, after end: MonotonicInstant?) {
        self.isKept = false
        // It takes a moment until an answer is on file.
        let isNoted = self.answeredAt.map { $0 + .seconds(5) <= end ?? now } ?? true
        if self.isAsking || !isNoted { self.inDoubtUntil = now }
    }
}
