extension KiiError {
    /// Whether the cloud may have carried the call out: it failed, and does not say when to come again, which it says
    /// when it has done nothing. 408 says that the request was not received whole, but some gateways mean that their cloud
    /// did not answer in time. 501 and 511 (RFC 6585, section 6) come from a server that has done nothing.
    var leavesOutcomeOpen: Bool {
        (self.status == 408 || (500..<600).contains(self.status)) && ![501, 511].contains(self.status)
            && self.retryAfter == nil
    }
}

extension TransportError {
    /// Whether the request may have reached the server.
    var leavesOutcomeOpen: Bool {
        if self.isUnsent || self.isShortage { return false }
        return switch self.code {
        // A request is sent when the handshake is done.
        case .nameNotResolved, .connectionRefused, .certificateNotTrusted, .clientCertificateRequired, .tlsFailed,
            .invalidConfiguration:
            false
        case .timedOut, .connectionLost, .webSocketFailed, .tooLarge, .shutDown, .other: true
        }
    }
}
