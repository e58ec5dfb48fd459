import Glibc
import KiiPushCore

extension Timestamp {
    /// The time of day where the machine is, for people: `14:03:22.104`.
    var localClock: String {
        var seconds = time_t(self.millisecondsSinceEpoch / 1000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return self.description }
        let milliseconds = self.millisecondsSinceEpoch % 1000
        let fields = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.padded(Int64($0), 2) }
        return fields.joined(separator: ":") + "." + Self.padded(milliseconds, 3)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(abs(number))
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Duration {
    /// Whole milliseconds, for JSON lines.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// For people: `287 ms`, `1.8 s`, `5 min`.
    var text: String {
        let milliseconds = self.milliseconds
        switch milliseconds {
        case ..<1000: return "\(milliseconds) ms"
        case ..<10_000: return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        case ..<120_000: return "\(milliseconds / 1000) s"
        default: return "\(milliseconds / 60_000) min"
        }
    }
}
