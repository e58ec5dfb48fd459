/// A failure below HTTP and MQTT: no complete response arrived, or a connection ended.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, by what a person can do about it.
    public enum Code: Sendable, Hashable {
        /// The host or proxy name has no address.
        case nameNotResolved
        /// No server accepted the connection: wrong port, server down, or no network.
        case connectionRefused
        /// The server's certificate is not trusted, has another name, or has expired.
        case certificateNotTrusted
        /// The server may require a client certificate. A TLS 1.2 server gives the same answer if it shares no protocol
        /// with the client.
        case clientCertificateRequired
        /// TLS failed for a reason that has no case of its own.
        case tlsFailed
        /// The server did not open a WebSocket, or violated the WebSocket protocol.
        case webSocketFailed
        /// Time ran out.
        case timedOut
        /// The connection broke, or the other side closed it.
        case connectionLost
        /// The response exceeds this client's limit.
        case tooLarge
        /// The transport cannot use the given URL, proxy or file.
        case invalidConfiguration
        /// The transport was shut down.
        case shutDown
        /// A failure that has no case of its own. The description gives details.
        case other
    }

    /// The kind of failure.
    public var code: Code
    /// The transport's own words, without credentials, for people and logs.
    package var detail: String
    package var curlCode: Int?
    /// The call or broker that failed, if any.
    package var subject: String?
    /// Whether the transport certainly sent nothing of the request, because the connection or handshake failed.
    package var isUnsent = false
    package var isShortage = false
    /// Whether a repetition may have a second effect: the server may have carried out the call despite the failure.
    public var isInDoubt = false

    package init(_ code: Code, detail: String, curlCode: Int? = nil) {
        (self.code, self.detail, self.curlCode) = (code, detail, curlCode)
    }

    /// One line: the call or broker, the failure, and advice.
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
