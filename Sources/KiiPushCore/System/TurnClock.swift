/// One moment on both clocks, to convert monotonic instants into calendar times. It counts whole nanoseconds, since a
/// verdict reads it twice and `Duration` needs 128-bit arithmetic.
package struct TurnClock: Sendable {
    private let calendar: Int64
    private let monotonic: Int64

    package init(now: Timestamp, instant: MonotonicInstant) {
        self.calendar = now.millisecondsSinceEpoch * 1_000_000
        self.monotonic = instant.nanoseconds
    }

    package init(_ clocks: Clocks) {
        // Reads the monotonic clock first: a pause between the two readings makes timestamps later, never earlier.
        self.monotonic = clocks.monotonic().nanoseconds
        // A `Timestamp` has whole milliseconds, and would make timestamps earlier.
        self.calendar = clocks.calendarNanoseconds()
    }

    package var now: Timestamp { Timestamp(millisecondsSinceEpoch: self.calendar / 1_000_000) }

    /// Converts an instant into calendar time. An instant before a suspend comes out too late, but the order stays.
    package func timestamp(of point: MonotonicInstant) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: (self.calendar - (self.monotonic - point.nanoseconds)) / 1_000_000)
    }
}
