/// Whether messages come in pieces that are too small for a turn each.
struct Gathering {
    /// A turn with as many messages is worth its wake-up.
    private static let enough = 64
    /// What follows after a longer silence comes alone.
    private static let silence: Duration = .microseconds(300)
    private static let pause: Duration = .microseconds(50)

    private var last: MonotonicInstant?
    /// How long to wait for what follows.
    private(set) var pause = Duration.zero

    mutating func received(_ count: Int, at now: MonotonicInstant) {
        self.pause = .zero
        guard count > 0 else { return }
        if count < Self.enough, let last, now - last < Self.silence { self.pause = Self.pause }
        self.last = now
    }
}

/// Has the loop take a turn at a time, although nothing happens then. Loop thread only.
final class TurnAlarm {
    private let loop: any Loop
    private var timer: (id: TimerID, deadline: MonotonicInstant)?
    /// Whether the time has come since the last ``reset()``.
    private(set) var isDue = false

    init(_ loop: any Loop) { self.loop = loop }

    /// Has a turn taken at `deadline`, unless one is to be taken before.
    func set(for deadline: MonotonicInstant) {
        if let timer {
            guard deadline < timer.deadline else { return }
            self.loop.cancel(timer.id)
        }
        let id = self.loop.schedule(at: deadline) { [weak self] in
            self?.timer = nil
            self?.isDue = true
        }
        self.timer = (id, deadline)
    }

    func reset() { self.isDue = false }
}
