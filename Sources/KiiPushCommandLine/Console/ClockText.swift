import Glibc
package import KiiPushCore

extension Timestamp {
    /// The local time of day: `14:03:22.104`.
    package var localClock: String { self.local?.clock ?? self.description }

    /// The local date and time of day: `2026-11-23 14:03:22.104`.
    var localText: String { self.local.map { "\($0.date) \($0.clock)" } ?? self.description }

    /// The local time of day, with the date if the date is not today's.
    var localMoment: String { self.local?.date == Timestamp.now().local?.date ? self.localClock : self.localText }

    /// The local time zone at this moment: `UTC`, or `CET (UTC+01:00)`.
    var localZone: String {
        guard let parts = self.localParts else { return "UTC" }
        let minutes = abs(parts.tm_gmtoff) / 60
        guard minutes > 0 else { return "UTC" }
        let offset = zeroPadded(minutes / 60, 2) + ":" + zeroPadded(minutes % 60, 2)
        let name = parts.tm_zone.map { String(cString: $0) } ?? ""
        return "\(name) (UTC\(parts.tm_gmtoff < 0 ? "-" : "+")\(offset))"
    }

    private var localParts: tm? {
        var seconds = time_t(self.millisecondsSinceEpoch / 1000)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? nil : parts
    }

    private var local: (date: String, clock: String)? {
        guard let parts = self.localParts else { return nil }
        let date = [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)].map { zeroPadded($0, $1) }
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { zeroPadded($0, 2) }
        return (
            date.joined(separator: "-"),
            clock.joined(separator: ":") + "." + zeroPadded(self.millisecondsSinceEpoch % 1000, 3)
        )
    }
}

func zeroPadded(_ number: some SignedInteger, _ width: Int, radix: Int = 10) -> String {
    let digits = String(number.magnitude, radix: radix)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
