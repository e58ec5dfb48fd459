extension HTTPRequest {
    /// Refuses what would send something else than the caller wrote, or put credentials into an error.
    ///
    /// - Throws: `TransportError` with code `invalidConfiguration`. The detail quotes nothing but the field's name.
    func validate() throws(TransportError) {
        guard HTTPRequest.isToken(self.method) else {
            throw HTTPRequest.refusal("the request's method is not a token (RFC 9110 section 5.6.2)")
        }
        // Deprecated for http and https by RFC 9110 section 4.2.4; libcurl may quote the URL that holds it.
        guard !self.authority.contains(UInt8(ascii: "@")) else {
            throw HTTPRequest.refusal("the URL holds credentials: send them in a field")
        }
        guard self.url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw HTTPRequest.refusal("the URL holds a space or control character: percent-encode it")
        }
        guard self.method != "HEAD" || self.body == nil else {
            throw HTTPRequest.refusal("a HEAD request takes no body")
        }
        for field in self.fields {
            guard HTTPRequest.isToken(field.name) else {
                throw HTTPRequest.refusal("a field's name is not a token (RFC 9110 section 5.6.2)")
            }
            // RFC 9110 section 5.5: these would end the field and begin another.
            guard field.value.utf8.allSatisfy({ $0 != 0 && $0 != 0x0A && $0 != 0x0D }) else {
                throw HTTPRequest.refusal("the field \(field.name) holds a line end or NUL")
            }
        }
    }

    func hasField(_ name: String) -> Bool {
        self.fields.contains { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }
    }

    private var authority: Substring.UTF8View.SubSequence {
        let bytes = self.url.utf8[...]
        var start = bytes.startIndex
        if let scheme = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[scheme...].starts(with: "://".utf8) {
            start = bytes.index(scheme, offsetBy: 3)
        }
        return bytes[start...].prefix { !"/?#\\".utf8.contains($0) }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    private static func refusal(_ detail: String) -> TransportError {
        TransportError(.invalidConfiguration, detail: detail)
    }
}
