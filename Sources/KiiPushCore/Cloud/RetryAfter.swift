package enum RetryAfter {
    /// A limit for hostile values. No real cloud requests a longer wait.
    static let longest = Duration.seconds(30 * 86_400)

    /// The longer of the header field's wait and the body's. A date in the field counts from the answer's own `Date`,
    /// if present, so that differing clocks do not matter.
    ///
    /// - Source: RFC 9110 sections 10.2.3 (`Retry-After`) and 6.6.1 (`Date`); KiiThingSDK for the body's `retryAfter`
    package static func duration(
        of answer: HTTPResponse, bodySeconds: Int64? = nil, receivedAt: Timestamp
    ) -> Duration? {
        let now = answer.field("Date").flatMap { Timestamp(date: $0) } ?? receivedAt
        let fromField = answer.field("Retry-After").flatMap { Self.duration(field: $0, now: now) }
        let fromBody = bodySeconds.flatMap { $0 < 0 ? nil : min(.seconds($0), Self.longest) }
        return [fromField, fromBody].compactMap { $0 }.max()
    }

    private static func duration(field: String, now: Timestamp) -> Duration? {
        let text = field.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text).map { min(.seconds($0), Self.longest) } ?? Self.longest
        }
        guard let end = Timestamp(date: text) else { return nil }
        let milliseconds = end.millisecondsSinceEpoch.subtractingReportingOverflow(now.millisecondsSinceEpoch)
        guard !milliseconds.overflow else { return nil }
        return max(.zero, min(.milliseconds(milliseconds.partialValue), Self.longest))
    }
}
