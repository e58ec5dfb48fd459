import KiiPushCore

/// Texts from outside, made fit for a notification.
enum DesktopText {
    /// On one line, without control characters; no longer than desktops show, beyond which some stall.
    static func line(_ text: String) -> String { self.cut(text, to: 200, lineFeed: " ") }

    /// Without control characters other than line feeds.
    static func block(_ text: String) -> String { self.cut(text, to: 2000, lineFeed: "\n") }

    /// For a service that reads markup: "Markup" of the specification, which is XML.
    static func escaped(_ text: String) -> String {
        // By scalars: a character that is one of these with an accent is markup as well.
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    /// - Parameters:
    ///   - limit: in characters.
    ///   - lineFeed: what stands for one.
    private static func cut(_ text: String, to limit: Int, lineFeed: Unicode.Scalar) -> String {
        // A character can have any number of scalars. Text that is cut need not be read to its end.
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(8 * limit) {
            switch scalar {
            case "\n": scalars.append(lineFeed)
            case "\t": scalars.append(" ")
            // What turns the direction of the text around it, the program's own included.
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
