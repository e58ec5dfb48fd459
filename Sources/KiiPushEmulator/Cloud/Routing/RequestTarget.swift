import KiiPushCore

/// A request's path and query, taken apart and percent-decoded.
struct RequestTarget: Sendable, Hashable {
    /// The segments between the slashes; `/api/x` has two, `/api/x/` has three.
    var path: [String]
    /// The query's parameters; of those with one name the last counts.
    var query: [String: String]
    /// The path as it was sent.
    var rawPath: String

    /// - Throws: ``KiiFailure`` 400 for a `%` without two hexadecimal digits and for bytes that are not UTF-8.
    init(parsing target: String) throws(KiiFailure) {
        let parts = RequestTarget.withoutAuthority(target)
            .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.rawPath = parts.first.map { String($0) } ?? ""
        var path: [String] = []
        // The first segment is what precedes the first slash: nothing.
        for segment in self.rawPath.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            path.append(try RequestTarget.decode(segment))
        }
        self.path = path
        self.query = [:]
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: "&") {
            let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            self.query[try RequestTarget.decodeForm(words[0])] =
                words.count == 2 ? try RequestTarget.decodeForm(words[1]) : ""
        }
    }

    /// The target without scheme and host, which a client may send to any server (RFC 9112 section 3.2.2) and which ebisu
    /// always sends.
    private static func withoutAuthority(_ target: String) -> Substring {
        guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target[...] }
        let rest = target[scheme.upperBound...]
        return rest.firstIndex { $0 == "/" || $0 == "?" }.map { rest[$0...] } ?? "/"
    }

    /// As above, with `+` for a space, as in queries and `application/x-www-form-urlencoded` bodies.
    static func decodeForm(_ text: some StringProtocol) throws(KiiFailure) -> String {
        try RequestTarget.decode(String(text.map { $0 == "+" ? " " : $0 }))
    }

    private static func decode(_ text: some StringProtocol) throws(KiiFailure) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy({ $0.isHexDigit }), let value = UInt8(digits, radix: 16)
            else { throw .invalidInput("The URL has a percent sign without two hexadecimal digits.") }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw .invalidInput("The URL is not UTF-8.")
        }
        return decoded
    }
}
