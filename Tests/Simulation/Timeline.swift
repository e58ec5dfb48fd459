import KiiPushCore

final class Timeline {
    private let events = TimerHeap()
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    /// Offset of the calendar after changes of its time.
    private(set) var calendarShift = Duration.zero
    private(set) var count = 0

    var calendarNanoseconds: Int64 {
        1_800_000_000_000_000_000 + self.now.nanoseconds + self.calendarShift.wholeNanoseconds
    }

    var seconds: String { "\(Double(self.now.nanoseconds / 1000) / 1e6 - 1000) s" }

    /// Schedules `body`. Events of the same time run in the order of the calls.
    func after(_ pause: Duration, _ body: @escaping () -> Void) { self.at(self.now + pause, body) }

    func at(_ time: MonotonicInstant, _ body: @escaping () -> Void) {
        _ = self.events.schedule(at: max(time, self.now), body)
    }

    func setCalendar(by shift: Duration) { self.calendarShift += shift }

    /// - Returns: whether there was an event.
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
