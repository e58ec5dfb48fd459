/// The reason why bytes are not a JSON document.
///
/// Safe to log: the error contains positions and names of members, never a value of the document.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        case empty
        /// RFC 8259 section 8.1 forbids a byte order mark.
        case byteOrderMark
        case unexpectedByte
        case unexpectedEnd
        case trailingBytes
        /// Such as `01` or `[1.]` (RFC 8259 section 6).
        case invalidNumber
        /// An unescaped character below U+0020 (RFC 8259 section 7).
        case controlCharacter
        /// An escape that RFC 8259 section 7 does not define.
        case invalidEscape
        case loneSurrogate
        /// A string is not UTF-8 (RFC 3629).
        case invalidUTF8
        case tooDeep
        /// ``JSONError/byteOffset`` is then the size limit.
        case tooLarge
    }

    package var code: Code
    package var byteOffset: Int
    /// The innermost value at ``byteOffset``, even if the value has just ended. The root if no value has begun.
    package var pointer = JSONPointer()

    /// One line that completes "the document is …": the fault, its place if known, and advice.
    public var description: String {
        switch self.code {
        case .empty: return "not JSON: \(self.code.advice)"
        case .tooLarge: return "larger than \(self.byteOffset) bytes: \(self.code.advice)"
        default: break
        }
        let place = self.pointer.tokens.isEmpty ? "" : " in \(self.pointer.abbreviated.dropFirst().dropLast())"
        return "not JSON at byte \(self.byteOffset)\(place): \(self.code.advice)"
    }
}

extension JSONError.Code {
    fileprivate var advice: String {
        switch self {
        case .empty: "the document is empty; send a value"
        case .byteOrderMark: "it starts with a byte order mark; send UTF-8 without one"
        case .unexpectedByte: "a byte is out of place; check commas, colons, quotes and brackets"
        case .unexpectedEnd: "it ends too early; check that it was sent whole"
        case .trailingBytes: "something follows the value; send one value only"
        case .invalidNumber: "a number is malformed; write it as -12.5e3, without leading zeros or plus sign"
        case .controlCharacter: "a control character stands in a string; escape it as \\u00 and two hex digits"
        case .invalidEscape: "an escape is unknown; use \\\" \\\\ \\/ \\b \\f \\n \\r \\t, or \\u and four hex digits"
        case .loneSurrogate: "half of a surrogate pair; write both halves or the character itself"
        case .invalidUTF8: "a string is not UTF-8; encode it as UTF-8"
        case .tooDeep: "too many levels of nesting; flatten it"
        case .tooLarge: "shorten it"
        }
    }
}
