import KiiPushCore

enum DesktopText {
    /// One line of at most 200 characters, without control characters. Some desktops stall on longer lines.
    static func line(_ text: String) -> String { self.cut(text, to: 200, lineFeed: " ") }

    /// At most 2000 characters, without control characters other than line feeds.
    static func block(_ text: String) -> String { self.cut(text, to: 2000, lineFeed: "\n") }

    /// Escapes a text for a service that reads markup, which is XML ("Markup" in the Desktop Notifications
    /// Specification).
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    private static func cut(_ text: String, to limit: Int, lineFeed: Unicode.Scalar) -> String {
        // A limit for scalars too, because a single character can have any number of scalars.
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(8 * limit) {
            switch scalar {
            case "\n": scalars.append(lineFeed)
            case "\t": scalars.append(" ")
            // Bidirectional controls, which could reverse text of the program itself.
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": continue
            case _ where scalar.properties.generalCategory == .control: continue
            default: scalars.append(scalar)
            }
        }
        let clean = String(scalars)
        let isCut = clean.count > limit || text.unicodeScalars.dropFirst(8 * limit).first != nil
        return isCut ? clean.prefix(limit - 1) + "…" : clean
    }
}
