import Glibc

/// A reading of the machine's clocks at one moment.
package struct ClockReading: Sendable, Hashable {
    /// `CLOCK_MONOTONIC`, which stops while the machine sleeps.
    package var monotonic: Duration
    /// `CLOCK_BOOTTIME`: the monotonic clock including sleep.
    package var sinceBoot: Duration
    /// `CLOCK_REALTIME`, which users can set.
    package var calendar: Duration

    package init(monotonic: Duration, sinceBoot: Duration, calendar: Duration) {
        (self.monotonic, self.sinceBoot, self.calendar) = (monotonic, sinceBoot, calendar)
    }

    /// Reads the clocks; `nil` if the thread was delayed between the readings, so that they do not show one moment.
    package static func now() -> ClockReading? {
        func time(_ clock: clockid_t) -> Duration { .nanoseconds(clockNanoseconds(clock)) }
        let first = time(CLOCK_MONOTONIC)
        let reading = ClockReading(
            monotonic: first, sinceBoot: time(CLOCK_BOOTTIME), calendar: time(CLOCK_REALTIME))
        return time(CLOCK_MONOTONIC) - first < .milliseconds(100) ? reading : nil
    }
}

/// A change of the clocks between two readings.
package struct ClockJump: Sendable, Hashable {
    /// The time that the machine slept (suspend, hibernation); zero if it did not.
    package var slept: Duration
    /// The change of the calendar: positive if it was set forward, negative if back.
    package var calendarMoved: Duration

    package init(slept: Duration = .zero, calendarMoved: Duration = .zero) {
        self.slept = slept
        self.calendarMoved = calendarMoved
    }
}

/// Detects that the machine slept or its calendar was set, by comparing clocks. Pure.
///
/// The clocks run at one speed, even while a time service corrects it, so only these two events change their
/// differences.
package struct ClockWatch: Sendable {
    /// The smallest jump: above a leap second and the delays between the readings.
    private static let threshold: Duration = .seconds(2)

    private var last: ClockReading?

    package init() {}

    /// Compares a reading with the last; returns `nil` without a jump.
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
