/// Decides whether the loop pauses after a turn, so that the next turn handles several messages.
struct Gathering {
    /// After a turn with this many messages, the loop does not pause.
    private static let enough = 64
    /// After a message that follows a longer silence, the loop does not pause either.
    private static let silence: Duration = .microseconds(300)
    private static let pause: Duration = .microseconds(50)

    private var last: MonotonicInstant?
    private(set) var pause = Duration.zero

    mutating func received(_ count: Int, at now: MonotonicInstant) {
        self.pause = .zero
        guard count > 0 else { return }
        if count < Self.enough, let last, now - last < Self.silence { self.pause = Self.pause }
        self.last = now
    }
}

/// Makes the loop take a turn at a given time, without an event. Loop thread only.
final class TurnAlarm {
    private let loop: any Loop
    private var timer: (id: TimerID, deadline: MonotonicInstant)?
    private(set) var isDue = false

    init(_ loop: any Loop) { self.loop = loop }

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
