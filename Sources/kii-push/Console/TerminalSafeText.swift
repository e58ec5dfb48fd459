extension StringProtocol {
    /// The text with everything escaped that could drive a terminal or disguise what is shown.
    ///
    /// These are the control characters (C0, DEL, C1), line separators, and the marks that turn the direction of
    /// writing, as `\n` or `\u001b`. A backslash is doubled, so that an escape cannot be imitated.
    var terminalSafe: String {
        self.escaping { $0 == "\\" || $0.isUnsafeOnTerminals }
    }

    /// As ``terminalSafe``, for text whose backslashes are escapes already.
    var escapingTerminalControls: String {
        self.escaping(\.isUnsafeOnTerminals)
    }

    private func escaping(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
        guard self.unicodeScalars.contains(where: isEscaped) else { return String(self) }
        return self.unicodeScalars.reduce(into: "") { text, scalar in
            if isEscaped(scalar) {
                text += scalar.escaped
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isUnsafeOnTerminals: Bool {
        switch self.value {
        case 0x00...0x1f, 0x7f...0x9f, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }

    fileprivate var escaped: String {
        switch self {
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let digits = String(self.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}
