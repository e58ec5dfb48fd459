extension StringProtocol {
    /// The text with everything escaped, as `\n` or `\u001b`, that could drive a terminal or disguise what is shown:
    /// control characters (C0, DEL, C1), line separators, marks that turn the direction of writing, and all that is
    /// invisible, such as U+200B. A backslash is doubled, so that an escape cannot be imitated.
    package var terminalSafe: String { self.escaping { $0 == "\\" || $0.isUnsafeOnTerminals } }

    /// As ``terminalSafe``, for text whose backslashes are escapes already, and for words of the user's own.
    package var escapingTerminalControls: String { self.escaping(\.isUnsafeOnTerminals) }

    private func escaping(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
        guard self.unicodeScalars.contains(where: { isEscaped($0) || $0.shapesNeighbours }) else { return String(self) }
        var previous: Unicode.Scalar?
        return self.unicodeScalars.reduce(into: "") { text, scalar in
            if isEscaped(scalar) || !scalar.canFollow(previous) {
                text += scalar.escaped
            } else {
                text.unicodeScalars.append(scalar)
            }
            previous = scalar
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isUnsafeOnTerminals: Bool {
        if self.value < 0x7f { return self.value < 0x20 }
        switch self.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default:
            // Unicode, section 5.21: shown as nothing at all. So are the marks of annotations, FFF9 to FFFB.
            let isInvisible = self.properties.isDefaultIgnorableCodePoint || (0xfff9...0xfffb).contains(self.value)
            return isInvisible && !self.shapesNeighbours
        }
    }

    private var isJoiner: Bool { self.value == 0x200c || self.value == 0x200d }
    private var selectsVariant: Bool { (0xfe00...0xfe0f).contains(self.value) }

    /// Whether it is invisible, yet emoji and Asian scripts need it: a joiner, or a variation selector.
    fileprivate var shapesNeighbours: Bool { self.isJoiner || self.selectsVariant }

    /// Whether it has a meaning behind `previous`, if it is one that shapes its neighbours. Behind Latin, Greek and
    /// Cyrillic letters, which all lie below the Arabic ones, it has none, and behind another one hardly.
    fileprivate func canFollow(_ previous: Unicode.Scalar?) -> Bool {
        guard self.shapesNeighbours else { return true }
        guard let previous, previous.value >= 0x0600 else { return false }
        return !previous.isJoiner && !(self.selectsVariant && previous.selectsVariant)
    }

    fileprivate var escaped: String {
        switch self {
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            // As in JSON: beyond four digits there are two of UTF-16, RFC 8259 section 7.
            return self.utf16.map { "\\u" + zeroPadded(Int($0), 4, radix: 16) }.joined()
        }
    }
}
