/// The date of a header field such as `Retry-After`, in any of the three forms a recipient must take.
///
/// - Source: RFC 9110 section 5.6.7.
enum HTTPDate {
    /// Reads a date; `now` decides the century of a year that has two digits only.
    static func parse(_ text: String, now: Timestamp) -> Timestamp? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT, or the obsolete Sunday, 06-Nov-94 08:49:37 GMT
        case 6 where words[5] == "GMT":
            return Self.moment(day: words[1], month: words[2], year: words[3], time: words[4], now: now)
        // The obsolete asctime form: Sun Nov  6 08:49:37 1994
        case 5: return Self.moment(day: words[2], month: words[1], year: words[4], time: words[3], now: now)
        default: return nil
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func moment(
        day dayText: String,
        month monthText: String,
        year yearText: String,
        time timeText: String,
        now: Timestamp
    ) -> Timestamp? {
        let clock = timeText.split(separator: ":", omittingEmptySubsequences: false).map(Self.digits)
        // Second 60 is a leap second, which the grammar allows.
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            hour < 24, minute < 60, second <= 60,
            let day = Self.digits(dayText[...]), (1...31).contains(day),
            let month = Self.months.firstIndex(of: monthText),
            let year = Self.digits(yearText[...]), yearText.utf8.count == 4 || yearText.utf8.count == 2
        else { return nil }
        func timestamp(year: Int64) -> Timestamp {
            let days = Self.daysSinceEpoch(year: year, month: Int64(month) + 1, day: day)
            let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
            return Timestamp(millisecondsSinceEpoch: seconds * 1000)
        }
        guard yearText.utf8.count == 2 else { return timestamp(year: year) }
        // More than 50 years ahead means the most recent year that ends so.
        let inThisCentury = timestamp(year: 2000 + year)
        return inThisCentury > now + .seconds(50 * 31_556_952) ? timestamp(year: 1900 + year) : inThisCentury
    }

    private static func digits(_ text: Substring) -> Int64? {
        let isNumber = (1...4).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber ? Int64(text) : nil
    }

    /// Counts days in years that begin on 1 March, so that a leap day is the last of its year.
    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month > 2 ? year : year - 1
        let cycle = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfCycle = shiftedYear - cycle * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return cycle * 146_097 + yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear - 719_468
    }
}

extension Timestamp {
    /// Reads the date of a header field, in any of the three forms of RFC 9110 section 5.6.7.
    package init?(httpDate text: String) {
        guard let date = HTTPDate.parse(text, now: .now()) else { return nil }
        self = date
    }
}
