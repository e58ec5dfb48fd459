import Glibc

/// One look at the machine's clocks, taken at one moment.
package struct ClockReading: Sendable, Hashable {
    /// `CLOCK_MONOTONIC`, which stands still while the machine sleeps.
    package var monotonic: Duration
    /// `CLOCK_BOOTTIME`: the same with the time asleep.
    package var sinceBoot: Duration
    /// `CLOCK_REALTIME`, which can be set.
    package var calendar: Duration

    package init(monotonic: Duration, sinceBoot: Duration, calendar: Duration) {
        (self.monotonic, self.sinceBoot, self.calendar) = (monotonic, sinceBoot, calendar)
    }

    /// Reads the clocks; `nil` when the thread was held up meanwhile, so that they do not show one moment.
    package static func now() -> ClockReading? {
        func time(_ clock: clockid_t) -> Duration { .nanoseconds(clockNanoseconds(clock)) }
        let first = time(CLOCK_MONOTONIC)
        let reading = ClockReading(
            monotonic: first, sinceBoot: time(CLOCK_BOOTTIME), calendar: time(CLOCK_REALTIME))
        return time(CLOCK_MONOTONIC) - first < .milliseconds(100) ? reading : nil
    }
}

/// What happened to the clocks between two looks at them.
package struct ClockJump: Sendable, Hashable {
    /// How long the machine slept (suspend, hibernation); zero if it did not.
    package var slept: Duration
    /// By how much the calendar was set forward, or back if negative.
    package var calendarMoved: Duration

    package init(slept: Duration = .zero, calendarMoved: Duration = .zero) {
        self.slept = slept
        self.calendarMoved = calendarMoved
    }
}

/// Finds out, by comparing clocks, that the machine slept or that its calendar was set. Pure.
///
/// The clocks run at one speed, also while a time service corrects it, so their distances change by these two alone.
package struct ClockWatch: Sendable {
    /// Less than this is no jump: neither a leap second nor the moments between the readings of one look.
    private static let threshold: Duration = .seconds(2)

    private var last: ClockReading?

    package init() {}

    /// Takes a look, and returns what happened since the last one; `nil` is nothing.
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
