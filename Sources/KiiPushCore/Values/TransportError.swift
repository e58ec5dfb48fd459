/// Why no whole answer came, or why a connection ended: everything below HTTP and MQTT.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What failed, in terms of what a person can do about it.
    public enum Code: Sendable, Hashable {
        /// The host name has no address (or the proxy's has none).
        case nameNotResolved
        /// Nobody accepted the connection: wrong port, server down, or the network is unreachable.
        case connectionRefused
        /// The server's certificate is not trusted, has another name, or has expired.
        case certificateNotTrusted
        /// The server asks for a client certificate, or seems to: TLS 1.2 refuses a client without one in the same way as
        /// one that it cannot agree with on anything else.
        case clientCertificateRequired
        /// TLS failed for another reason.
        case tlsFailed
        /// The server did not open a WebSocket, or broke its protocol.
        case webSocketFailed
        /// Time ran out.
        case timedOut
        /// The other side closed the connection, or it broke.
        case connectionLost
        /// The answer is larger than this client takes.
        case tooLarge
        /// The URL, proxy or file given to the transport cannot be used.
        case invalidConfiguration
        /// The transport was shut down.
        case shutDown
        /// Anything else; the description says what.
        case other
    }

    /// What failed.
    public var code: Code
    /// The transport's own words, without credentials. For people and logs, not for comparison.
    package var detail: String
    /// libcurl's `CURLcode`, where there is one.
    package var curlCode: Int?
    /// What it was about: a call with the address of its cloud, or the broker with its address. `nil` when the transport
    /// alone was concerned.
    package var subject: String?
    /// Whether it is certain that nothing of the request was sent: the connection or the handshake was not done.
    package var isUnsent = false
    /// Whether the process could have no more descriptors when it failed.
    package var isShortage = false
    /// Whether the call may have been carried out all the same, and would be carried out once more by making it again.
    public var isInDoubt = false

    package init(_ code: Code, detail: String, curlCode: Int? = nil) {
        (self.code, self.detail, self.curlCode) = (code, detail, curlCode)
    }

    /// One line: what it was about, what failed, and what to do about it.
    public var description: String { "\(self.subject.map { "\($0): " } ?? "")\(self.detail); \(self.advice)" }

    private var advice: String {
        if self.isInDoubt { return "it may have been carried out all the same, and to repeat it may do it twice" }
        if self.isShortage { return "have files closed, or raise the limit of open files (ulimit -n)" }
        return switch self.code {
        case .nameNotResolved: "check the host name and the DNS"
        case .connectionRefused: "check the address, and that the server is running"
        case .certificateNotTrusted: "check the certificate, or name its authority's file"
        case .clientCertificateRequired:
            "name the certificate that the server wants (clientCertificateFile), or use a port that asks for none"
        case .tlsFailed: "check that the port speaks TLS"
        case .webSocketFailed: "check that the port speaks MQTT over WebSocket, and what stands before it"
        case .timedOut: "try again, or allow more time"
        case .connectionLost, .other: "try again"
        case .tooLarge: "ask for less"
        case .invalidConfiguration: "correct the configuration"
        case .shutDown: "it was stopped on request"
        }
    }
}
