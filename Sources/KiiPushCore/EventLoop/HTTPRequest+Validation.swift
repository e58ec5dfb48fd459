extension HTTPRequest {
    /// Refuses a request that libcurl would send differently, or whose error text could contain credentials.
    ///
    /// - Throws: `TransportError` with code `invalidConfiguration`. The detail quotes only a field's name.
    func validate() throws(TransportError) {
        if let flaw = self.flaw { throw TransportError(.invalidConfiguration, detail: flaw) }
    }

    func hasField(_ name: String) -> Bool { self.fields.contains { $0.isNamed(name) } }

    private var flaw: String? {
        guard HTTPRequest.isToken(self.method) else {
            return "the request's method is not a token (RFC 9110 section 5.6.2)"
        }
        var url = self.url
        if let flaw = url.withUTF8(HTTPRequest.flaw(ofURL:)) { return flaw }
        guard self.method != "HEAD" || self.body == nil else { return "a HEAD request takes no body" }
        for field in self.fields {
            guard HTTPRequest.isToken(field.name) else {
                return "a field's name is not a token (RFC 9110 section 5.6.2)"
            }
            // These characters would end the field (RFC 9110 section 5.5).
            guard field.value.utf8.allSatisfy({ $0 != 0 && $0 != 0x0A && $0 != 0x0D }) else {
                return "the field \(field.name) holds a line end or NUL"
            }
        }
        return nil
    }

    private static func flaw(ofURL url: UnsafeBufferPointer<UInt8>) -> String? {
        var authority = url[...]
        if let scheme = url.firstIndex(of: UInt8(ascii: ":")), url[scheme...].starts(with: "://".utf8) {
            authority = url[scheme...].dropFirst(3)
        }
        // RFC 9110 section 4.2.4 deprecates credentials in http and https URLs, and libcurl may quote the URL.
        guard !authority.prefix(while: { !$0.isOne(of: "/?#\\") }).contains(UInt8(ascii: "@")) else {
            return "the URL holds credentials: send them in a field"
        }
        guard url.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return "the URL holds a space or control character: percent-encode it"
        }
        return nil
    }

    private static func isToken(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { !$0.isEmpty && $0.allSatisfy { $0.isLetterOrDigit(or: "!#$%&'*+-.^_`|~") } }
    }
}
