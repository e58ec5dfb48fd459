import Glibc

package struct ClockReading: Sendable, Hashable {
    /// `CLOCK_MONOTONIC`, which stops while the machine sleeps.
    package var monotonic: Duration
    /// `CLOCK_BOOTTIME`, which includes the time that the machine sleeps.
    package var sinceBoot: Duration
    /// `CLOCK_REALTIME`, which an administrator can set.
    package var calendar: Duration

    package init(monotonic: Duration, sinceBoot: Duration, calendar: Duration) {
        (self.monotonic, self.sinceBoot, self.calendar) = (monotonic, sinceBoot, calendar)
    }

    /// Returns `nil` if the thread was delayed between the readings, so that the times belong to different moments.
    package static func now() -> ClockReading? {
        func time(_ clock: clockid_t) -> Duration { .nanoseconds(clockNanoseconds(clock)) }
        let first = time(CLOCK_MONOTONIC)
        let reading = ClockReading(
            monotonic: first, sinceBoot: time(CLOCK_BOOTTIME), calendar: time(CLOCK_REALTIME))
        return time(CLOCK_MONOTONIC) - first < .milliseconds(100) ? reading : nil
    }
}

package struct ClockJump: Sendable, Hashable {
    package var slept: Duration
    /// Positive if the calendar clock was set forward, negative if back.
    package var calendarMoved: Duration

    package init(slept: Duration = .zero, calendarMoved: Duration = .zero) {
        self.slept = slept
        self.calendarMoved = calendarMoved
    }
}

/// Detects a suspend of the machine and a change of the calendar clock. Nothing else changes the differences between
/// the clocks noticeably: a time service corrects the speed of all three.
package struct ClockWatch: Sendable {
    /// Larger than a leap second and the delays between the readings.
    private static let threshold: Duration = .seconds(2)

    private var last: ClockReading?

    package init() {}

    /// Compares a reading with the reading at the last jump; before any jump, with the first reading. Returns `nil` if
    /// there is no jump.
    package mutating func look(_ reading: ClockReading?) -> ClockJump? {
        guard let reading else { return nil }
        let last = self.last ?? reading
        let slept = (reading.sinceBoot - reading.monotonic) - (last.sinceBoot - last.monotonic)
        let moved = (reading.calendar - reading.sinceBoot) - (last.calendar - last.sinceBoot)
        let hasMoved = max(moved, .zero - moved) >= ClockWatch.threshold
        let jump = ClockJump(
            slept: slept < ClockWatch.threshold ? .zero : slept, calendarMoved: hasMoved ? moved : .zero)
        if self.last == nil || jump != ClockJump() { self.last = reading }
        return jump == ClockJump() ? nil : jump
    }
}
