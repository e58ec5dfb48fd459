/// Where a byte stream leads.
package enum StreamTarget: Sendable, Hashable {
    /// TCP, through the configured proxy if there is one.
    case tcp(host: String, port: UInt16)
    /// TLS with the server's name and certificate verified, through the configured proxy if there is one.
    case tls(host: String, port: UInt16)
    /// A Unix domain socket; never through a proxy.
    case unix(path: String)

    var isTLS: Bool {
        if case .tls = self { true } else { false }
    }

    /// The URL that tells libcurl whom to connect to. Its path is never sent.
    func url() throws(TransportError) -> String {
        switch self {
        case .tcp(let host, let port): "http://\(try StreamTarget.authority(host)):\(port)/"
        case .tls(let host, let port): "https://\(try StreamTarget.authority(host)):\(port)/"
        case .unix: "http://localhost/"
        }
    }

    // What could end the host part of a URL early would connect us elsewhere than the caller said.
    private static func authority(_ host: String) throws(TransportError) -> String {
        let isPlain = host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !$0.isOne(of: "/?#@\\[]") }
        guard !host.isEmpty, isPlain else {
            throw TransportError(.invalidConfiguration, detail: "the stream's host is not a host name or address")
        }
        return host.contains(":") ? "[\(host)]" : host
    }
}
