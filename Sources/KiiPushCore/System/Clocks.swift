import Glibc

/// The two clocks that everything kept or awaited goes by.
package struct Clocks: Sendable {
    /// Tells what has passed; see ``MonotonicInstant``.
    package var monotonic: @Sendable () -> MonotonicInstant
    /// Tells the calendar's time, in nanoseconds since 1970-01-01T00:00:00Z. It can be set.
    package var calendarNanoseconds: @Sendable () -> Int64

    package init(
        monotonic: @escaping @Sendable () -> MonotonicInstant, calendarNanoseconds: @escaping @Sendable () -> Int64
    ) {
        self.monotonic = monotonic
        self.calendarNanoseconds = calendarNanoseconds
    }

    package static let machine = Clocks(
        monotonic: { .now() }, calendarNanoseconds: { clockNanoseconds(CLOCK_REALTIME) })

    package var calendar: Timestamp { Timestamp(millisecondsSinceEpoch: self.calendarNanoseconds() / 1_000_000) }
}

extension MonotonicInstant {
    package static func now() -> Self { Self(nanoseconds: clockNanoseconds(CLOCK_MONOTONIC)) }

    /// The milliseconds until this moment, for poll(2); 0 when it has passed. Rounded up, since a thread that wakes too
    /// early wakes twice.
    package var millisecondsLeft: Int32 { Int32(clamping: max(self - .now(), .zero).wholeMillisecondsRoundedUp) }
}

extension Timestamp {
    /// Reads the machine's wall clock.
    package static func now() -> Timestamp { Clocks.machine.calendar }
}

@inline(__always)
func clockNanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
