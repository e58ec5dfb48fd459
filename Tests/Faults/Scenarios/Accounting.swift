import KiiPushCore

/// Checks repeatedly whether every message of a scenario is handled or a dead letter.
struct Accounting {
    private let sent: [Int: Int]
    private let total: Int
    private let expectedDeadLetters: Int
    private let state: String
    private let isOurs: Bool
    private let proxy: FaultProxy
    private var inbox: InboxReading?
    private var dead = DeadLetters()
    private var serials: [String: Int] = [:]
    private var looks = 0

    init(_ play: Play) {
        self.sent = play.sent
        self.total = play.sent.values.reduce(0, +)
        self.expectedDeadLetters = play.expectedDeadLetters
        self.state = play.bench.state
        self.isOurs = play.kind.isOurs
        self.proxy = play.proxy
    }

    mutating func isComplete(_ log: HandledLog) throws -> Bool {
        // Dead letters have no line in the log, so the inbox is read at every 50th check.
        let isDue = self.looks % 50 == 0
        self.looks += 1
        if self.isOurs, isDue {
            let former = self.inbox
            let inbox = try InboxReading(state: self.state, after: former)
            if inbox.deadLetters.count != former?.deadLetters.count { self.dead = inbox.dead }
            self.inbox = inbox
        }
        guard log.endedCount + self.dead.letters.count >= self.total,
            self.dead.letters.count >= self.expectedDeadLetters
        else { return false }
        if isDue { self.serials = try InboxReading.serials(of: self.sent, state: self.state, in: self.proxy.traffic) }
        var tally = Tally(sent: self.sent, log: log, traffic: Traffic())
        tally.dead = self.dead
        tally.serials = self.serials
        return tally.missing.isEmpty
    }

    /// Whether the receiver has no open message and no pending acknowledgement.
    func isIdle() throws -> Bool {
        guard self.proxy.traffic.inFlight == 0 else { return false }
        return try InboxReading(state: self.state).open == 0
    }
}
