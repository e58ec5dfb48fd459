enum Names {
    static func isLegal(_ text: String, _ length: ClosedRange<Int>, extra: String) -> Bool {
        length.contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch Unicode.Scalar(byte) {
                case "a"..."z", "A"..."Z", "0"..."9": true
                default: extra.utf8.contains(byte)
                }
            }
    }

    /// Kii's SDKs disagree on upper or lower case, so both are accepted.
    static func isCountry(_ text: String) -> Bool {
        text.utf8.count == 2
            && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
    }

    /// - Source: Kii's SDKs, which are stricter before the `@`.
    static func isEmailAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            return false
        }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && labels.allSatisfy { Names.isLegal(String($0), 1...63, extra: "-") }
    }
}
