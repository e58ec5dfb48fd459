/// Converts monotonic instants into calendar times, by one reading of both clocks. Integers are faster here than the
/// 128-bit `Duration`.
package struct TurnClock: Sendable {
    private let calendar: Int64
    private let monotonic: Int64

    package init(now: Timestamp, instant: MonotonicInstant) {
        self.calendar = now.millisecondsSinceEpoch * 1_000_000
        self.monotonic = instant.nanoseconds
    }

    package init(_ clocks: Clocks) {
        // The monotonic clock is read first: a pause between the readings makes timestamps later, never earlier.
        self.monotonic = clocks.monotonic().nanoseconds
        // Nanoseconds, since rounding down to milliseconds would make timestamps earlier.
        self.calendar = clocks.calendarNanoseconds()
    }

    package var now: Timestamp { Timestamp(millisecondsSinceEpoch: self.calendar / 1_000_000) }

    /// Converts an instant into calendar time. Instants from before a suspend of the machine become too late, in the
    /// right order.
    package func timestamp(of point: MonotonicInstant) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: (self.calendar - (self.monotonic - point.nanoseconds)) / 1_000_000)
    }
}
