import KiiPushCore

struct Numbering {
    var connection = 0
    var hasSent = false
    /// Whether the process has seen a connection begin with another packet ID than 1.
    var isKept = false
    /// The beginning of the broker's present session or state.
    var since: MonotonicInstant
    /// Whether the session went back to an old copy. The broker then uses packet IDs again, and an agent trusts none of
    /// them.
    var isReused = false
    private var isAsking = false
    /// The time at which the agent read CONNACK after its last CONNECT. The agent then notes that the session is the
    /// same.
    private var answeredAt: MonotonicInstant?
    /// Until this time the agent may have missed a new session of the broker, and recognises no redelivery of an
    /// earlier message.
    private(set) var inDoubtUntil: MonotonicInstant?

    init(since: MonotonicInstant) { self.since = since }

    /// From here on the agent may note its doubt and may be killed before it sends CONNECT.
    mutating func connected() { self.answeredAt = nil }

    mutating func asks(at now: MonotonicInstant) {
        if self.isAsking { self.inDoubtUntil = now }
        self.isAsking = true
    }

    mutating func answered(at now: MonotonicInstant) {
        self.isAsking = false
        self.answeredAt = now
    }

    /// - Parameter end: the time at which the previous process was killed, or `nil`. The note reaches the file a moment
    ///   after CONNACK.
    mutating func processBegan(at now: MonotonicInstant, after end: MonotonicInstant?) {
        self.isKept = false
        let isNoted = self.answeredAt.map { answered in end.map { $0 - answered >= .milliseconds(200) } ?? true }
        if isNoted != true { self.inDoubtUntil = now }
        self.isAsking = false
    }
}
