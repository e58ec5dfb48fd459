import Glibc

package struct Clocks: Sendable {
    package var monotonic: @Sendable () -> MonotonicInstant
    /// Nanoseconds since 1970-01-01T00:00:00Z, by the calendar clock.
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

    /// The milliseconds until this moment, for poll(2); 0 if it has passed. Rounded up, so that the thread does not
    /// wake before the moment.
    package var millisecondsLeft: Int32 { Int32(clamping: max(self - .now(), .zero).wholeMillisecondsRoundedUp) }
}

extension Timestamp {
    package static func now() -> Timestamp { Clocks.machine.calendar }
}

@inline(__always)
func clockNanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
