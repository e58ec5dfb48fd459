/// The trust and identity of TLS connections.
package struct TLSConfiguration: Sendable, Hashable {
    /// A file of PEM certificates to trust instead of the system's; `nil` trusts the system's. The next connection
    /// rereads a changed file.
    package var caFile: String?
    /// Whether certificates go unverified. For experiments only: anyone on the network path can read everything.
    package var insecure: Bool
    /// A file with the PEM certificate for servers that ask for one, and any intermediate certificates.
    package var clientCertificateFile: String?
    /// A file with its PEM key, without a password and unreadable for others; `nil` uses the certificate's file.
    package var clientKeyFile: String?
    /// Whether a trusted certificate may be for another name. Only for diagnosing a certificate.
    package var ignoresNames = false

    package init(caFile: String? = nil, insecure: Bool = false) {
        self.caFile = caFile
        self.insecure = insecure
    }
}

extension EventLoop {
    /// The settings of one loop's transfers and streams.
    package struct Configuration: Sendable {
        package var tls: TLSConfiguration
        /// The proxy's URL (`http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`), including credentials. `nil`
        /// connects directly; the loop ignores the environment's `http_proxy` and its like.
        package var proxy: String?
        /// The field `User-Agent` of requests to HTTP servers and proxies.
        package var userAgent = UserAgent.ofLibrary
        /// The largest response body, in bytes after decompression. Default 4 MiB.
        package var maximumBodyBytes = 4 << 20
        /// The most bytes to read from one stream in one turn, so that no stream starves the others. Default 1 MiB.
        package var drainBytes: Int
        /// The limit for name lookup, connecting, proxy and TLS handshake together. Default 10 s.
        package var connectTimeout: Duration
        /// The most connections that HTTP transfers open to one host at once; further transfers wait. Default 64.
        package var maximumConnectionsPerHost = 64
        /// The most streams that connect to one target at once. Further streams wait, and their connect timeout starts
        /// later. Default 256.
        package var maximumConnectsPerTarget = 256
        /// The longest that ``ByteStream/closeAfterFlush()`` waits for a peer that does not read. Default 5 s.
        package var lingerTimeout: Duration
        /// Reads the machine's clocks. Tests replace it to simulate sleep.
        package var readClocks: @Sendable () -> ClockReading?

        package init(
            tls: TLSConfiguration = .init(), proxy: String? = nil, drainBytes: Int = 1 << 20,
            connectTimeout: Duration = .seconds(10), lingerTimeout: Duration = .seconds(5),
            readClocks: @escaping @Sendable () -> ClockReading? = ClockReading.now
        ) {
            (self.tls, self.proxy, self.drainBytes) = (tls, proxy, drainBytes)
            (self.connectTimeout, self.lingerTimeout, self.readClocks) = (connectTimeout, lingerTimeout, readClocks)
        }
    }
}
