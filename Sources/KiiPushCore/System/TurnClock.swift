/// One moment on both clocks: what happened at a point of the monotonic clock is written with the calendar's time.
/// In whole nanoseconds, since a verdict asks twice and a `Duration` takes arithmetic of 128 bits.
package struct TurnClock: Sendable {
    private let calendar: Int64
    private let monotonic: Int64

    package init(now: Timestamp, instant: MonotonicInstant) {
        self.calendar = now.millisecondsSinceEpoch * 1_000_000
        self.monotonic = instant.nanoseconds
    }

    /// Reads both clocks.
    package init(_ clocks: Clocks) {
        // First the monotonic clock: a pause between the two readings makes timestamps later, never earlier.
        self.monotonic = clocks.monotonic().nanoseconds
        // Not a Timestamp: its whole milliseconds would make timestamps earlier.
        self.calendar = clocks.calendarNanoseconds()
    }

    /// The moment on the calendar.
    package var now: Timestamp { Timestamp(millisecondsSinceEpoch: self.calendar / 1_000_000) }

    /// When on the calendar a point of the monotonic clock was. One that lies before a time that the machine was
    /// suspended comes out as later than it was, but never in another order.
    package func timestamp(of point: MonotonicInstant) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: (self.calendar - (self.monotonic - point.nanoseconds)) / 1_000_000)
    }
}
