import CCurl

/// How a connection came about, or how far it got: for telling a person which part of the way fails.
package struct ConnectionReport: Sendable {
    /// A certificate that the server sent, in the words of libcurl's TLS library.
    package struct Certificate: Sendable {
        /// Such as `CN = localhost`.
        package var subject: String?
        package var issuer: String?
        /// When it ends.
        package var end: Timestamp?
    }

    /// The address that was connected to last, in digits: the proxy's where there is one. `nil` when none was.
    package var address: String?
    /// Whether a name was turned into addresses, the proxy's where there is one.
    package var isResolved: Bool
    /// How long it took until the TCP connection stood; `nil` when it did not.
    package var connectedAfter: Duration?
    /// What the proxy answered to CONNECT; 0 when it was not asked or did not.
    package var proxyStatus: Int
    /// Whether the certificate is trusted and for another name. Found out by connecting once more, so only where somebody
    /// did.
    package var isForAnotherName = false
    /// The server's own first. Empty without TLS, and of a handshake that was not finished.
    package var certificates: [Certificate]

    /// Asks a handle that has connected, or failed to.
    init(_ easy: CurlEasy) {
        let address = easy.text(CURLINFO_PRIMARY_IP)
        self.address = address.isEmpty ? nil : address
        self.connectedAfter = easy.time(CURLINFO_CONNECT_TIME_T)
        self.isResolved = self.connectedAfter != nil || easy.time(CURLINFO_NAMELOOKUP_TIME_T) != nil
        self.proxyStatus = easy.integer(CURLINFO_HTTP_CONNECTCODE)
        self.certificates = easy.certificates()
    }
}

extension CurlEasy {
    fileprivate func text(_ info: CURLINFO) -> String {
        var value: UnsafeMutablePointer<CChar>?
        guard ccurl_easy_get_string(self.raw, info, &value) == CURLE_OK, let value else { return "" }
        return String(cString: value)
    }

    /// `nil` for what did not come to pass.
    fileprivate func time(_ info: CURLINFO) -> Duration? {
        var microseconds: curl_off_t = 0
        guard ccurl_easy_get_offset(self.raw, info, &microseconds) == CURLE_OK, microseconds > 0 else { return nil }
        return .microseconds(Int64(microseconds))
    }

    fileprivate func certificates() -> [ConnectionReport.Certificate] {
        var chain: UnsafeMutablePointer<curl_certinfo>?
        guard ccurl_easy_get_certificates(self.raw, &chain) == CURLE_OK, let chain, let lists = chain.pointee.certinfo
        else { return [] }
        return (0..<Int(chain.pointee.num_of_certs)).map { ConnectionReport.Certificate(lists[$0]) }
    }
}

extension ConnectionReport.Certificate {
    /// Reads lines of the form `Name:value`, CURLINFO_CERTINFO(3).
    fileprivate init(_ lines: UnsafeMutablePointer<curl_slist>?) {
        self.init()
        var line = lines
        while let entry = line?.pointee {
            line = entry.next
            guard let data = entry.data else { continue }
            let parts = String(cString: data).split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "Subject": self.subject = String(parts[1])
            case "Issuer": self.issuer = String(parts[1])
            case "Expire date": self.end = Timestamp(date: String(parts[1]))
            default: break
            }
        }
    }
}
