import CCurl
import Glibc

/// The part of a configuration that every connection obeys, REST or stream: trust, proxy and connect time.
struct ConnectionOptions {
    private let tls: TLSConfiguration
    private let proxy: ProxyAddress?
    private let connectTimeout: Duration
    private let trustsFileAlone: Bool

    /// - Throws: `TransportError` with code `invalidConfiguration` when the proxy or the CA file cannot be used.
    init(_ configuration: EventLoop.Configuration) throws(TransportError) {
        if let file = configuration.tls.caFile, access(file, R_OK) != 0 {
            let detail = "the CA file \(file) cannot be read: \(errorText(errno))"
            throw TransportError(.invalidConfiguration, detail: detail)
        }
        self.tls = configuration.tls
        self.proxy = try configuration.proxy.map(ProxyAddress.init)
        self.connectTimeout = configuration.connectTimeout
        self.trustsFileAlone = ConnectionOptions.trustsFileAlone(
            caFile: configuration.tls.caFile, builtIn: ccurl_built_in_certificates().map { String(cString: $0) },
            isReadable: { access($0, R_OK) == 0 })
    }

    /// Whether libcurl's folder of certificates is left out.
    ///
    /// A file that was configured is to be trusted *instead* of the system's. And where the system has all its certificates
    /// in one file, as Debian makes it of the folder's, the folder adds none, but keeps libcurl from sharing what it has
    /// read among connections: each would take 23 ms of CPU and 860 KiB instead of 1.2 ms and 70 KiB (measured, libcurl
    /// 7.88.1 with 140 certificates).
    ///
    /// - Parameter builtIn: the file that libcurl was built to trust, beside the folder.
    static func trustsFileAlone(caFile: String?, builtIn: String?, isReadable: (String) -> Bool) -> Bool {
        caFile != nil || builtIn.map(isReadable) ?? false
    }

    var usesProxy: Bool { self.proxy != nil }

    func apply(to easy: CurlEasy, isLocal: Bool = false) throws(TransportError) {
        try easy.setMilliseconds(CURLOPT_CONNECTTIMEOUT_MS, self.connectTimeout)
        // RFC 8996: TLS 1.0 and 1.1 must not be used. Said here, it holds against a file that OPENSSL_CONF names.
        try easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try easy.set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let caFile = self.tls.caFile {
            try easy.set(CURLOPT_CAINFO, caFile)
            try easy.set(CURLOPT_PROXY_CAINFO, caFile)
        }
        if self.trustsFileAlone {
            // A libcurl that has no such option has no folder.
            _ = ccurl_easy_set_string(easy.raw, CURLOPT_CAPATH, nil)
            _ = ccurl_easy_set_string(easy.raw, CURLOPT_PROXY_CAPATH, nil)
        }
        if self.tls.insecure { try easy.set(CURLOPT_SSL_VERIFYPEER, 0) }
        if self.tls.insecure || self.tls.ignoresNames { try easy.set(CURLOPT_SSL_VERIFYHOST, 0) }
        if let proxy = self.proxy, !isLocal {
            try proxy.apply(to: easy)
            try easy.set(CURLOPT_NOPROXY, "")
        } else {
            // The empty string, here and above, keeps libcurl from reading the environment.
            try easy.set(CURLOPT_PROXY, "")
        }
    }
}
