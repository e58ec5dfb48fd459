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

    /// The time has come, and was attended to.
    func reset() { self.isDue = false }
}
