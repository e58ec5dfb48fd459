import CCurl

/// The address and the credentials of a proxy. Errors quote only the address.
struct ProxyAddress {
    let address: String
    private let userName: Secret?
    private let password: Secret?

    /// Without a scheme, the proxy is an HTTP proxy.
    init(_ text: String) throws(TransportError) {
        guard let parts = curl_url() else { throw TransportError(.other, detail: "curl_url returned no handle") }
        defer { curl_url_cleanup(parts) }
        let url = text.contains(bytesOf: "://") ? text : "http://" + text
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
        guard !url.utf8.contains(0), curl_url_set(parts, CURLUPART_URL, url, flags) == CURLUE_OK,
            let scheme = ProxyAddress.part(CURLUPART_SCHEME, of: parts),
            ["http", "https", "socks4", "socks4a", "socks5", "socks5h"].contains(scheme),
            var host = ProxyAddress.part(CURLUPART_HOST, of: parts)
        else {
            throw TransportError(.invalidConfiguration, detail: "the proxy is not a URL such as http://host:3128")
        }
        if let zone = ProxyAddress.part(CURLUPART_ZONEID, of: parts), host.hasSuffix("]") {
            // RFC 6874: a link-local address needs its zone.
            host = host.dropLast() + "%25\(zone)]"
        }
        let port = ProxyAddress.part(CURLUPART_PORT, of: parts).map { ":" + $0 } ?? ""
        self.address = "\(scheme)://\(host)\(port)"
        self.userName = ProxyAddress.part(CURLUPART_USER, of: parts).map { Secret($0) }
        self.password = ProxyAddress.part(CURLUPART_PASSWORD, of: parts).map { Secret($0) }
    }

    func apply(to easy: CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_PROXY, self.address)
        if let userName = self.userName { try easy.set(CURLOPT_PROXYUSERNAME, userName.reveal()) }
        if let password = self.password { try easy.set(CURLOPT_PROXYPASSWORD, password.reveal()) }
    }

    private static func part(_ part: CURLUPart, of parts: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let flags = part == CURLUPART_USER || part == CURLUPART_PASSWORD ? UInt32(CURLU_URLDECODE) : 0
        guard curl_url_get(parts, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
