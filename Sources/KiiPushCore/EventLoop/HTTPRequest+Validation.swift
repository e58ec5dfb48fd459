extension HTTPRequest {
    /// Refuses what would send something else than the caller wrote, or put credentials into an error.
    ///
    /// - Throws: `TransportError` with code `invalidConfiguration`. The detail quotes nothing but the field's name.
    func validate() throws(TransportError) {
        guard HTTPRequest.isToken(self.method) else {
            throw HTTPRequest.refusal("the request's method is not a token (RFC 9110 section 5.6.2)")
        }
        if let flaw = self.urlFlaw { throw HTTPRequest.refusal(flaw) }
        guard self.method != "HEAD" || self.body == nil else {
            throw HTTPRequest.refusal("a HEAD request takes no body")
        }
        for field in self.fields {
            guard HTTPRequest.isToken(field.name) else {
                throw HTTPRequest.refusal("a field's name is not a token (RFC 9110 section 5.6.2)")
            }
            // RFC 9110 section 5.5: these would end the field and begin another.
            var value = field.value
            guard value.withUTF8({ $0.allSatisfy { $0 != 0 && $0 != 0x0A && $0 != 0x0D } }) else {
                throw HTTPRequest.refusal("the field \(field.name) holds a line end or NUL")
            }
        }
    }

    func hasField(_ name: String) -> Bool {
        self.fields.contains { $0.isNamed(name) }
    }

    /// What keeps the URL from being sent.
    private var urlFlaw: String? {
        var url = self.url
        return url.withUTF8 { bytes in
            // Deprecated for http and https by RFC 9110 section 4.2.4; libcurl may quote the URL that holds it.
            if HTTPRequest.authority(of: bytes).contains(UInt8(ascii: "@")) {
                return "the URL holds credentials: send them in a field"
            }
            if bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
                return "the URL holds a space or control character: percent-encode it"
            }
            return nil
        }
    }

    private static func authority(of url: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        var rest = url[...]
        if let scheme = url.firstIndex(of: UInt8(ascii: ":")), url[scheme...].starts(with: "://".utf8) {
            rest = url[(scheme + 3)...]
        }
        return rest.prefix { byte in
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"): false
            default: true
            }
        }
    }

    private static func isToken(_ text: String) -> Bool {
        var text = text
        return !text.isEmpty && text.withUTF8 { $0.allSatisfy(HTTPRequest.isTokenByte) }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"),
            UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func refusal(_ detail: String) -> TransportError {
        TransportError(.invalidConfiguration, detail: detail)
    }
}
