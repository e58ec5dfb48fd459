package struct TLSConfiguration: Sendable, Hashable {
    /// A PEM file of certificates to trust instead of the system's; `nil`: the system's. The next connection rereads a
    /// changed file.
    package var caFile: String?
    /// Whether to skip all verification. For experiments only: anyone on the network path can read everything.
    package var insecure: Bool
    package var clientCertificateFile: String?
    /// A PEM file with the client's key, without a password and unreadable for others; `nil`: the certificate's file.
    package var clientKeyFile: String?
    package var ignoresNames = false

    package init(caFile: String? = nil, insecure: Bool = false) {
        self.caFile = caFile
        self.insecure = insecure
    }
}

extension EventLoop {
    package struct Configuration: Sendable {
        package var tls: TLSConfiguration
        /// The proxy's URL (`http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`), including credentials. `nil`
        /// connects directly. Environment variables such as `http_proxy` have no effect.
        package var proxy: String?
        package var userAgent = UserAgent.ofLibrary
        /// The approximate limit in bytes for reading one stream in one turn. Default 1 MiB.
        package var drainBytes: Int
        /// The time limit for name lookup, connecting, proxy and TLS handshake together. Default 10 s.
        package var connectTimeout: Duration
        /// The most connections for HTTP transfers to one host; further transfers wait. Default 64.
        package var maximumConnectionsPerHost = 64
        /// The most streams that connect to one target at once. Further streams wait; their connect timeout starts
        /// after the wait. Default 256.
        package var maximumConnectsPerTarget = 256
        /// The longest wait of ``ByteStream/closeAfterFlush()`` for the peer to read all and close. Default 5 s.
        package var lingerTimeout: Duration
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
