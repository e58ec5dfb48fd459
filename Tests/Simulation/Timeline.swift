import KiiPushCore

/// The time of one history, which nothing else moves, and what is to happen in it.
final class Timeline {
    private let events = TimerHeap()
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    /// By how much the calendar is ahead of where it began.
    private(set) var calendarShift = Duration.zero
    /// How many events there were.
    private(set) var count = 0

    /// The calendar's time in nanoseconds.
    var calendarNanoseconds: Int64 {
        1_800_000_000_000_000_000 + self.now.nanoseconds + self.calendarShift.wholeNanoseconds
    }

    /// The time since the beginning, to be read.
    var seconds: String { "\(Double(self.now.nanoseconds / 1000) / 1e6 - 1000) s" }

    /// Has something happen when so much time has passed; what is for one time happens in the order of the calls.
    func after(_ pause: Duration, _ body: @escaping () -> Void) { self.at(self.now + pause, body) }

    func at(_ time: MonotonicInstant, _ body: @escaping () -> Void) {
        _ = self.events.schedule(at: max(time, self.now), body)
    }

    func setCalendar(by shift: Duration) { self.calendarShift += shift }

    /// Has the next event happen.
    ///
    /// - Returns: whether there was one.
    func step() -> Bool {
        guard let due = self.events.nextDeadline() else { return false }
        self.now = max(self.now, due)
        guard let body = self.events.popDue(at: self.now, before: self.events.horizon) else { return false }
        self.count += 1
        body()
        return true
    }

    func removeAll() { self.events.removeAll() }
}
