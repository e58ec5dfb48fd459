import CCurl
import Glibc

/// The libcurl options of all connections of an event loop: TLS, proxy, user agent and the time limit for connecting.
struct ConnectionOptions {
    private let tls: TLSConfiguration
    private let proxy: ProxyAddress?
    private let userAgent: String
    private let connectTimeout: Duration
    private let trustsFileAlone: Bool
    private let authorities: AuthorityFile?

    init(_ configuration: EventLoop.Configuration) throws(TransportError) {
        let tls = configuration.tls
        try ConnectionOptions.requireReadable(tls.caFile, "the CA file")
        try ConnectionOptions.requireReadable(tls.clientCertificateFile, "the client certificate")
        try ConnectionOptions.requirePrivateKey(tls)
        guard configuration.userAgent.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            let detail = "the user agent holds something other than printable ASCII"
            throw TransportError(.invalidConfiguration, detail: detail)
        }
        self.tls = tls
        self.userAgent = configuration.userAgent
        self.proxy = try configuration.proxy.map(ProxyAddress.init)
        self.connectTimeout = configuration.connectTimeout
        let builtIn = ccurl_built_in_certificates().map { String(cString: $0) }
        self.trustsFileAlone = ConnectionOptions.trustsFileAlone(
            caFile: tls.caFile, builtIn: builtIn, isReadable: { access($0, R_OK) == 0 })
        // libcurl does not cache a folder's certificates, so only a file needs checks for changes.
        self.authorities = self.trustsFileAlone ? (tls.caFile ?? builtIn).map(AuthorityFile.init) : nil
    }

    private static func requireReadable(_ file: String?, _ name: String) throws(TransportError) {
        guard let file, access(file, R_OK) != 0 else { return }
        throw TransportError(
            .invalidConfiguration, detail: "\(name) \(file) cannot be read: \(errorText(errno))")
    }

    private static func requirePrivateKey(_ tls: TLSConfiguration) throws(TransportError) {
        guard let certificate = tls.clientCertificateFile else {
            guard tls.clientKeyFile != nil else { return }
            throw TransportError(.invalidConfiguration, detail: "there is a client key, and no client certificate")
        }
        let key = tls.clientKeyFile ?? certificate
        let isFound: Bool
        do throws(FileError) {
            // The service manager protects its credential files by access control lists, not by their mode
            // (systemd.exec(5)).
            let folder = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) } ?? ""
            let isOfManager = !folder.isEmpty && key.hasPrefix(folder + "/")
            isFound = try (isOfManager ? TrustedFile.read(key) : PrivateFile.read(key)) != nil
        } catch {
            throw TransportError(.invalidConfiguration, detail: "the client key: \(error)")
        }
        guard isFound else {
            throw TransportError(.invalidConfiguration, detail: "there is no client key \(key)")
        }
    }

    /// Whether libcurl may ignore its folder of certificates: a file is configured, or the system has all certificates
    /// in one file, as on Debian.
    ///
    /// With the folder, libcurl cannot share parsed certificates. Each connection takes 23 ms of CPU and 860 KiB
    /// instead of 1.2 ms and 70 KiB (measured, libcurl 7.88.1 with 140 certificates).
    static func trustsFileAlone(caFile: String?, builtIn: String?, isReadable: (String) -> Bool) -> Bool {
        caFile != nil || builtIn.map(isReadable) ?? false
    }

    var usesProxy: Bool { self.proxy != nil }

    /// - Parameter isLocal: whether the connection is to a Unix socket, and so uses no proxy.
    func apply(to easy: CurlEasy, isLocal: Bool = false) throws(TransportError) {
        try easy.setMilliseconds(CURLOPT_CONNECTTIMEOUT_MS, self.connectTimeout)
        // RFC 8996 forbids TLS 1.0 and 1.1. This setting overrides a file that OPENSSL_CONF names.
        try easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try easy.set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let caFile = self.tls.caFile {
            try easy.set(CURLOPT_CAINFO, caFile)
            try easy.set(CURLOPT_PROXY_CAINFO, caFile)
        }
        if self.trustsFileAlone {
            // The result is ignored: libcurl without this option has no folder of certificates.
            _ = ccurl_easy_set_string(easy.raw, CURLOPT_CAPATH, nil)
            _ = ccurl_easy_set_string(easy.raw, CURLOPT_PROXY_CAPATH, nil)
        }
        if self.tls.insecure { try easy.set(CURLOPT_SSL_VERIFYPEER, 0) }
        if self.tls.insecure || self.tls.ignoresNames { try easy.set(CURLOPT_SSL_VERIFYHOST, 0) }
        if let certificate = self.tls.clientCertificateFile {
            try easy.set(CURLOPT_SSLCERT, certificate)
            try easy.set(CURLOPT_SSLKEY, self.tls.clientKeyFile ?? certificate)
            // An empty password keeps OpenSSL from asking for the key's password at the terminal, and waiting.
            try easy.set(CURLOPT_KEYPASSWD, "")
        }
        try easy.set(CURLOPT_USERAGENT, self.userAgent)
        // The empty strings stop libcurl from reading the proxy, and the exceptions to it, from the environment.
        if let proxy = self.proxy, !isLocal {
            try proxy.apply(to: easy)
            try easy.set(CURLOPT_NOPROXY, "")
        } else {
            try easy.set(CURLOPT_PROXY, "")
        }
    }

    /// Makes the handle's next connection trust the authorities that the file lists now. Without TLS or a proxy, which
    /// may use TLS, the check is skipped: it would take 8 % of a request.
    func reloadChangedAuthorities(_ easy: CurlEasy, usesTLS: Bool) {
        guard usesTLS || self.usesProxy else { return }
        self.authorities?.limitAge(for: easy)
    }
}
