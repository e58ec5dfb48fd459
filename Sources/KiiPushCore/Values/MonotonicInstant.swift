/// A point on `CLOCK_MONOTONIC`, which never jumps and stops while the machine is suspended.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        let nanoseconds = duration.wholeNanoseconds
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(nanoseconds)
        return MonotonicInstant(nanoseconds: overflow ? (nanoseconds < 0 ? .min : .max) : sum)
    }

    package static func - (later: MonotonicInstant, earlier: MonotonicInstant) -> Duration {
        let (difference, overflow) = later.nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        return .nanoseconds(overflow ? (later < earlier ? .min : .max) : difference)
    }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension MonotonicInstant? {
    package static func earlier(_ one: Self, _ other: Self) -> Self {
        guard let one else { return other }
        return other.map { min(one, $0) } ?? one
    }
}

extension Duration {
    /// Clamped to half the range of `Int64` (about 146 years), so that a sum of two cannot overflow.
    package var wholeNanoseconds: Int64 {
        let limit = Int64.max / 2
        let (seconds, attoseconds) = self.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow, abs(product) < limit else { return seconds < 0 ? -limit : limit }
        return product + attoseconds / 1_000_000_000
    }

    /// Rounded up, so that a timer never fires early.
    package var wholeMillisecondsRoundedUp: Int64 { (self.wholeNanoseconds + 999_999) / 1_000_000 }
}
