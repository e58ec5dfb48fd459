/// What agents are told of a store that does not write: why, once for each reason, and when it writes again. A store on the
/// other side of a network may also leave a commit without an answer. Loop thread only.
struct StorageReports {
    /// So long an answer may take.
    private static let patience: Duration = .seconds(5)
    private static let silence =
        "inbox: committing has taken more than 5 s; check that the database answers; nothing is acknowledged until it does"

    private let alarm: TurnAlarm
    /// When the commit began that is not answered.
    private var began: MonotonicInstant?
    private var told: String?

    init(_ loop: any Loop) { self.alarm = TurnAlarm(loop) }

    /// A commit was not answered at once.
    mutating func waits(since now: MonotonicInstant) {
        self.began = now
        self.alarm.set(for: now + StorageReports.patience)
    }

    /// Why there is something to tell of a commit that is not answered, if there is.
    mutating func silence(at now: MonotonicInstant) -> String? {
        guard let began, now - began >= StorageReports.patience, self.told == nil else { return nil }
        self.told = StorageReports.silence
        return self.told
    }

    mutating func answered() { self.began = nil }

    /// Whether this reason was not told yet.
    mutating func fails(_ reason: String) -> Bool {
        defer { self.told = reason }
        return self.told != reason
    }

    /// Whether something was told before.
    mutating func recovers() -> Bool { self.told.take() != nil }
}
