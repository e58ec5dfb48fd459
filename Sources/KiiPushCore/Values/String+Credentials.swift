extension String {
    /// The text with `<redacted>` in place of recognizable credentials: the user info of URLs, and the value after
    /// `Basic`.
    ///
    /// - Source: RFC 3986 section 3.2.1; RFC 7617 section 2
    package var withoutCredentials: String {
        let bytes = Array(self.utf8)
        var cleaned: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let rest = bytes[position...]
            if let end = String.endOfUserInfo(rest) {
                cleaned += "://<redacted>".utf8
                position = end
            } else if let end = String.endOfBasic(rest, isWord: position == 0 || !bytes[position - 1].isLetter) {
                cleaned += Array(rest.prefix("Basic ".utf8.count)) + "<redacted>".utf8
                position = end
            } else {
                cleaned.append(bytes[position])
                position += 1
            }
        }
        return cleaned.count == bytes.count ? self : String(decoding: cleaned, as: UTF8.self)
    }

    /// A peer's text for an error: at most 200 Unicode scalars on one line, without credentials.
    var onOneLine: String {
        let scalars = self.withoutCredentials.unicodeScalars
        let line = scalars.prefix(200).map { scalar -> String in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: " "
            default: String(scalar)
            }
        }
        return line.joined() + (scalars.count > 200 ? "…" : "")
    }

    private static func endOfUserInfo(_ text: ArraySlice<UInt8>) -> Int? {
        guard text.starts(with: "://".utf8) else { return nil }
        let authority = text.dropFirst("://".utf8.count).prefix { $0 > 0x20 && !$0.isOne(of: "/?#\\\"'<>") }
        return authority.lastIndex(of: UInt8(ascii: "@"))
    }

    private static func endOfBasic(_ text: ArraySlice<UInt8>, isWord: Bool) -> Int? {
        guard isWord, text.starts(with: "basic".utf8, by: { $0 | 0x20 == $1 }),
            text.dropFirst("basic".utf8.count).first == UInt8(ascii: " ")
        else { return nil }
        let credentials = text.dropFirst("basic ".utf8.count).prefix { $0.isLetterOrDigit(or: "+/=") }
        // Credentials are an encoded name, colon and password. The colon distinguishes them from "Basic
        // authentication".
        let pair = Base64.decode(String(decoding: credentials, as: UTF8.self))
        return pair?.contains(UInt8(ascii: ":")) == true ? credentials.endIndex : nil
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}
