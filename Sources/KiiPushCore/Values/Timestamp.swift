import Glibc

/// A moment in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// - Source: Kii's `when`, `modifiedAt`, `w` and `om` fields.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since the epoch; negative before it.
    public var millisecondsSinceEpoch: Int64

    /// Makes a moment from milliseconds since the epoch.
    public init(millisecondsSinceEpoch: Int64) { self.millisecondsSinceEpoch = millisecondsSinceEpoch }

    /// Clamped to the first or last moment.
    package static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let end: Int64 = duration < .zero ? .min : .max
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        guard !isTooLong else { return Timestamp(millisecondsSinceEpoch: end) }
        let (milliseconds, isJustTooLong) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        let (sum, isBeyond) = moment.millisecondsSinceEpoch.addingReportingOverflow(milliseconds)
        return Timestamp(millisecondsSinceEpoch: isJustTooLong || isBeyond ? end : sum)
    }

    /// Whether `left` lies before `right`.
    public static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }

    /// RFC 3339 in UTC with milliseconds, such as `2016-05-16T01:46:41.908Z`. A year outside 0 to 9999 is longer.
    public var description: String {
        let (days, millisecondOfDay) = self.millisecondsSinceEpoch.flooredDivision(by: 86_400_000)
        let (year, month, day) = Timestamp.civilDate(daysSinceEpoch: days)
        // The longest year with its sign makes 30 characters.
        return String(unsafeUninitializedCapacity: 30) { buffer in
            var count = 0
            func write(_ byte: UInt8) {
                buffer[count] = byte
                count += 1
            }
            func write(_ value: Int64, width: Int, _ separator: Unicode.Scalar) {
                if value < 0 { write(UInt8(ascii: "-")) }
                var unit: UInt64 = 1
                for _ in 1..<width { unit *= 10 }
                while value.magnitude / unit >= 10 { unit *= 10 }
                while unit > 0 {
                    write(UInt8(ascii: "0") + UInt8(value.magnitude / unit % 10))
                    unit /= 10
                }
                write(UInt8(ascii: separator))
            }
            write(year, width: 4, "-")
            write(month, width: 2, "-")
            write(day, width: 2, "T")
            write(millisecondOfDay / 3_600_000, width: 2, ":")
            write(millisecondOfDay / 60_000 % 60, width: 2, ":")
            write(millisecondOfDay / 1000 % 60, width: 2, ".")
            write(millisecondOfDay % 1000, width: 3, "Z")
            return count
        }
    }

    /// The proleptic Gregorian date of a day. 400-year cycles count from 0000-03-01, so that a leap day comes last.
    private static func civilDate(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (cycle, dayOfCycle) = (daysSinceEpoch + 719_468).flooredDivision(by: 146_097)
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = self.quotientAndRemainder(dividingBy: divisor)
        // `self - remainder` would overflow for the least integers.
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
