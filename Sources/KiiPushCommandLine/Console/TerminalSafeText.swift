extension StringProtocol {
    /// The text with escapes, such as `\n` or `\u001b`, for characters that could control a terminal or disguise the
    /// text: control characters (C0, DEL, C1), line separators, direction marks, and invisible characters such as
    /// U+200B. Backslashes are doubled, so that text cannot imitate an escape.
    package var terminalSafe: String { self.escaping { $0 == "\\" || $0.isUnsafeOnTerminals } }

    /// Like ``terminalSafe``, but without doubled backslashes: for text that is already escaped, and for the user's own
    /// words.
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
            // Default-ignorable characters (Unicode, section 5.21) are invisible, and so are the annotation marks FFF9
            // to FFFB.
            let isInvisible = self.properties.isDefaultIgnorableCodePoint || (0xfff9...0xfffb).contains(self.value)
            return isInvisible && !self.shapesNeighbours
        }
    }

    private var isJoiner: Bool { self.value == 0x200c || self.value == 0x200d }
    private var selectsVariant: Bool { (0xfe00...0xfe0f).contains(self.value) }

    /// Whether the character is invisible but necessary for emoji and Asian scripts: a joiner or a variation selector.
    fileprivate var shapesNeighbours: Bool { self.isJoiner || self.selectsVariant }

    /// Whether the character is meaningful after `previous`. Joiners and selectors have no meaning after Latin, Greek
    /// and Cyrillic letters (mostly below U+0600), and mostly none after another joiner or selector.
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
            // As in JSON (RFC 8259 section 7): a scalar above U+FFFF becomes two UTF-16 units.
            return self.utf16.map { "\\u" + zeroPadded(Int($0), 4, radix: 16) }.joined()
        }
    }
}
