import CCurl

package struct ConnectionReport: Sendable {
    package struct Certificate: Sendable {
        package var subject: String?
        package var issuer: String?
        package var end: Timestamp?
    }

    /// The last address that libcurl tried, in digits: the proxy's if there is one.
    package var address: String?
    /// Whether the name lookup succeeded, for the proxy if there is one.
    package var isResolved: Bool
    /// `nil` if TCP did not connect.
    package var connectedAfter: Duration?
    /// The proxy's status for CONNECT; 0 without an answer.
    package var proxyStatus: Int
    /// Whether the certificate is trusted but names another host. Only a second connection attempt can set this.
    package var isForAnotherName = false
    /// The chain, the server's own certificate first. Empty without TLS, or if the handshake failed.
    package var certificates: [Certificate]

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

    fileprivate func certificates() -> [ConnectionReport.Certificate] {
        var chain: UnsafeMutablePointer<curl_certinfo>?
        guard ccurl_easy_get_certificates(self.raw, &chain) == CURLE_OK, let chain, let lists = chain.pointee.certinfo
        else { return [] }
        return (0..<Int(chain.pointee.num_of_certs)).map { ConnectionReport.Certificate(lists[$0]) }
    }
}

extension ConnectionReport.Certificate {
    /// Reads lines of the form `Name:value` (CURLINFO_CERTINFO(3)).
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
