/// Whom TLS connections trust.
package struct TLSConfiguration: Sendable, Hashable {
    /// A file of PEM certificates to trust instead of the system's; `nil` trusts the system's. One that has changed is read
    /// again by the next connection.
    package var caFile: String?
    /// Whether certificates go unverified. For experiments only: whoever sits on the way can read everything.
    package var insecure: Bool
    /// A file with the PEM certificate that servers get which ask for one, and those between it and its authority.
    package var clientCertificateFile: String?
    /// A file with its PEM key, without a password and closed to others; `nil`: the certificate's file.
    package var clientKeyFile: String?
    /// Whether a trusted certificate may be for another name. For finding out what is wrong with a certificate only.
    package var ignoresNames = false

    package init(caFile: String? = nil, insecure: Bool = false) {
        self.caFile = caFile
        self.insecure = insecure
    }
}

extension EventLoop {
    /// What holds for every transfer and stream of one loop.
    package struct Configuration: Sendable {
        package var tls: TLSConfiguration
        /// The proxy's URL (`http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`), credentials and all. `nil`
        /// connects directly; the environment's `http_proxy` and its like are not looked at.
        package var proxy: String?
        /// The field `User-Agent` of requests to HTTP servers and proxies.
        package var userAgent = UserAgent.ofLibrary
        /// The largest response body that is taken, decompressed. Default 4 MiB.
        package var maximumBodyBytes = 4 << 20
        /// The most that is read from one stream in one turn, so that none starves the others. Default 1 MiB.
        package var drainBytes: Int
        /// How long name lookup, connecting, proxy and TLS handshake may take together. Default 10 s.
        package var connectTimeout: Duration
        /// How many connections HTTP transfers open to one host at once; the rest wait in line. Default 64.
        package var maximumConnectionsPerHost = 64
        /// How many streams connect to one target at once; the rest wait in line, and their time to connect has not begun.
        /// Default 256.
        package var maximumConnectsPerTarget = 256
        /// How long ``ByteStream/closeAfterFlush()`` waits for a peer that does not read. Default 5 s.
        package var lingerTimeout: Duration
        /// Reads the machine's clocks; for tests that have the machine sleep.
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
