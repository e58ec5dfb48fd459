import CCurl
import Glibc

/// The part of a configuration that every connection obeys, REST or stream: trust, proxy and connect time.
struct ConnectionOptions {
    private let tls: TLSConfiguration
    private let proxy: ProxyAddress?
    private let connectTimeout: Duration

    /// - Throws: `TransportError` with code `invalidConfiguration` when the proxy or the CA file cannot be used.
    init(_ configuration: EventLoop.Configuration) throws(TransportError) {
        if let file = configuration.tls.caFile, access(file, R_OK) != 0 {
            let reason = errorText(errno)
            throw TransportError(.invalidConfiguration, detail: "the CA file \(file) cannot be read: \(reason)")
        }
        self.tls = configuration.tls
        if let proxy = configuration.proxy {
            self.proxy = try ProxyAddress(proxy)
        } else {
            self.proxy = nil
        }
        self.connectTimeout = configuration.connectTimeout
    }

    var usesProxy: Bool { self.proxy != nil }

    func apply(to easy: CurlEasy, isLocal: Bool = false) throws(TransportError) {
        try easy.setMilliseconds(CURLOPT_CONNECTTIMEOUT_MS, self.connectTimeout)
        if let caFile = self.tls.caFile {
            try easy.set(CURLOPT_CAINFO, caFile)
            try easy.set(CURLOPT_PROXY_CAINFO, caFile)
            // Instead of the system's: libcurl may be built with a folder of certificates, which it would trust as well. One
            // that has no such option has no folder.
            _ = ccurl_easy_set_string(easy.raw, CURLOPT_CAPATH, nil)
            _ = ccurl_easy_set_string(easy.raw, CURLOPT_PROXY_CAPATH, nil)
        }
        if self.tls.insecure {
            try easy.set(CURLOPT_SSL_VERIFYPEER, 0)
            try easy.set(CURLOPT_SSL_VERIFYHOST, 0)
        } else if self.tls.ignoresNames {
            try easy.set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let proxy = self.proxy, !isLocal {
            try proxy.apply(to: easy)
            try easy.set(CURLOPT_NOPROXY, "")
        } else {
            // The empty string, here and above, keeps libcurl from reading the environment.
            try easy.set(CURLOPT_PROXY, "")
        }
    }
}
