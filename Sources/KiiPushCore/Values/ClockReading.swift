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
        self.monotonic = monotonic
        self.sinceBoot = sinceBoot
        self.calendar = calendar
    }

    /// Reads the clocks; `nil` when the thread was held up meanwhile, so that they do not show one moment.
    package static func now() -> ClockReading? {
        let first = ClockReading.time(CLOCK_MONOTONIC)
        let reading = ClockReading(
            monotonic: first, sinceBoot: ClockReading.time(CLOCK_BOOTTIME), calendar: ClockReading.time(CLOCK_REALTIME))
        return ClockReading.time(CLOCK_MONOTONIC) - first < .milliseconds(100) ? reading : nil
    }

    private static func time(_ clock: clockid_t) -> Duration { .nanoseconds(clockNanoseconds(clock)) }
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
        guard let last = self.last else {
            self.last = reading
            return nil
        }
        var jump = ClockJump(
            slept: (reading.sinceBoot - reading.monotonic) - (last.sinceBoot - last.monotonic),
            calendarMoved: (reading.calendar - reading.sinceBoot) - (last.calendar - last.sinceBoot)
        )
        if jump.slept < ClockWatch.threshold { jump.slept = .zero }
        if abs(jump.calendarMoved) < ClockWatch.threshold { jump.calendarMoved = .zero }
        guard jump != ClockJump() else { return nil }
        self.last = reading
        return jump
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}
