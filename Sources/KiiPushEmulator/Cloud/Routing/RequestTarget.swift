import KiiPushCore

struct RequestTarget: Sendable, Hashable {
    /// Empty segments are left out, since Kii's JavaScript SDK sends `//` and trailing slashes.
    var path: [String]
    /// If a name occurs twice, the last value counts.
    var query: [String: String]

    /// - Throws: ``KiiFailure`` 400 for a `%` without two hexadecimal digits, and for decoded bytes that are not UTF-8.
    init(parsing target: String) throws(KiiFailure) {
        let bytes = Array(RequestTarget.withoutAuthority(target).utf8)
        let pathEnd = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        var path: [String] = []
        for segment in bytes[..<pathEnd].split(separator: UInt8(ascii: "/")) {
            path.append(try RequestTarget.decode(segment))
        }
        self.path = path
        self.query = [:]
        guard pathEnd < bytes.count else { return }
        for pair in bytes[(pathEnd + 1)...].split(separator: UInt8(ascii: "&")) {
            let words = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try RequestTarget.decode(words[0], isForm: true)
            self.query[name] = words.count == 2 ? try RequestTarget.decode(words[1], isForm: true) : ""
        }
    }

    /// Removes scheme and host, which a client may send (RFC 9112 section 3.2.2). Kii's C SDK ebisu always sends them.
    private static func withoutAuthority(_ target: String) -> Substring {
        guard !target.hasPrefix("/"), let scheme = target.firstRange(bytesOf: "://") else { return target[...] }
        let rest = target[scheme.upperBound...]
        return rest.firstIndex { $0 == "/" || $0 == "?" }.map { rest[$0...] } ?? "/"
    }

    /// - Parameter isForm: whether `+` is a space, as in queries and `application/x-www-form-urlencoded` bodies.
    private static func decode(_ bytes: ArraySlice<UInt8>, isForm: Bool = false) throws(KiiFailure) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(RequestTarget.digit),
                let low = rest.popFirst().flatMap(RequestTarget.digit)
            else { throw .invalidInput("The URL has a percent sign without two hexadecimal digits.") }
            decoded.append(high << 4 | low)
        }
        guard let text = String(validating: decoded, as: UTF8.self) else {
            throw .invalidInput("The URL is not UTF-8.")
        }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
