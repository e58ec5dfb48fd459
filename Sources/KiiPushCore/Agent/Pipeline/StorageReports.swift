/// Reports a store that does not write: each new reason, then the recovery. A shared store may also leave a commit
/// unanswered. Loop thread only.
struct StorageReports {
    /// An unanswered commit is reported after this time.
    private static let patience: Duration = .seconds(5)
    private static let silence =
        "inbox: committing has taken more than 5 s; check that the database answers; nothing is acknowledged until it does"

    private let alarm: TurnAlarm
    private var began: MonotonicInstant?
    private var told: String?

    init(_ loop: any Loop) { self.alarm = TurnAlarm(loop) }

    mutating func waits(since now: MonotonicInstant) {
        self.began = now
        self.alarm.set(for: now + StorageReports.patience)
    }

    mutating func silence(at now: MonotonicInstant) -> String? {
        guard let began, now - began >= StorageReports.patience, self.told == nil else { return nil }
        self.told = StorageReports.silence
        return self.told
    }

    mutating func answered() { self.began = nil }

    mutating func fails(_ reason: String) -> Bool {
        defer { self.told = reason }
        return self.told != reason
    }

    mutating func recovers() -> Bool { self.told.take() != nil }
}
