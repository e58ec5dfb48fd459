/// The reason why bytes are not a JSON document.
///
/// Safe to log: the error holds positions and names of members, never a value of the document.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The broken rule.
    package enum Code: Sendable, Hashable {
        /// The document is empty but for white space.
        case empty
        /// The document starts with a byte order mark (RFC 8259 section 8.1).
        case byteOrderMark
        /// A byte stands in the wrong place.
        case unexpectedByte
        /// The document ends in the middle of a value.
        case unexpectedEnd
        /// Something follows the document's one value.
        case trailingBytes
        /// A number is not written as RFC 8259 section 6 demands, such as `01`, `1.` or `-`.
        case invalidNumber
        /// A character below U+0020 stands unescaped in a string (RFC 8259 section 7).
        case controlCharacter
        /// A backslash is not followed by one of `"\/bfnrt` or `u` and four hexadecimal digits.
        case invalidEscape
        /// A `\u` escape is half of a surrogate pair.
        case loneSurrogate
        /// A string is not UTF-8 (RFC 3629): overlong, a surrogate, above U+10FFFF or cut.
        case invalidUTF8
        /// The document exceeds the parser's levels of nesting: 64 by default.
        case tooDeep
        /// The document exceeds the parser's size; ``JSONError/byteOffset`` is the limit, by default 4 MiB.
        case tooLarge
    }

    package var code: Code
    /// The error's offset in bytes from the start of the document.
    package var byteOffset: Int
    /// The innermost value at the offset; the root if no value had begun.
    package var pointer: JSONPointer

    package init(code: Code, byteOffset: Int, pointer: JSONPointer) {
        (self.code, self.byteOffset, self.pointer) = (code, byteOffset, pointer)
    }

    /// An error of the document as a whole.
    init(_ code: Code, at byteOffset: Int) { self.init(code: code, byteOffset: byteOffset, pointer: JSONPointer()) }

    /// One line that completes "the document is …": the rule, the place, and what to do about it.
    public var description: String {
        switch self.code {
        // An empty document has no places, and its root no name.
        case .empty: return "not JSON: \(self.code.advice)"
        // The parser has not checked whether the document is JSON.
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
