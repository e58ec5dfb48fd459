/// Texts from outside, made fit for a notification.
enum DesktopText {
    /// The longest line and the longest text, in characters: no desktop shows more, and some stall.
    static let lineLimit = 200
    static let blockLimit = 2000

    /// On one line, without control characters.
    static func line(_ text: String) -> String {
        DesktopText.cut(text, to: DesktopText.lineLimit) { $0 == "\n" || $0 == "\t" ? " " : nil }
    }

    /// Without control characters other than line feeds.
    static func block(_ text: String) -> String {
        DesktopText.cut(text, to: DesktopText.blockLimit) { $0 == "\n" ? "\n" : $0 == "\t" ? " " : nil }
    }

    /// For a service that reads markup: "Markup" of the specification, which is XML.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// - Parameter control: what stands for a control character; `nil`: nothing.
    private static func cut(
        _ text: String, to limit: Int, control: (Unicode.Scalar) -> Unicode.Scalar?
    ) -> String {
        // A character can have any number of scalars. Text that is cut need not be read to its end.
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(8 * limit) {
            let kept =
                switch scalar.value {
                // What turns the direction of the text around it, the program's own included.
                case 0x202A...0x202E, 0x2066...0x2069: Unicode.Scalar?.none
                default: scalar.properties.generalCategory == .control ? control(scalar) : scalar
                }
            if let kept { scalars.append(kept) }
        }
        let clean = String(scalars)
        let isCut = clean.count > limit || text.unicodeScalars.dropFirst(8 * limit).first != nil
        return isCut ? clean.prefix(limit - 1) + "…" : clean
    }
}
