extension KiiError {
    /// Whether the cloud may have carried out the call despite its failure. A cloud that did nothing says when to
    /// retry. The status 408 means an incomplete request, but some gateways send it when their cloud does not answer in
    /// time. The statuses 501 and 511 (RFC 6585, section 6) come from a server that did nothing.
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
        // The client sends a request only after the handshake.
        case .nameNotResolved, .connectionRefused, .certificateNotTrusted, .clientCertificateRequired, .tlsFailed,
            .invalidConfiguration:
            false
        case .timedOut, .connectionLost, .webSocketFailed, .tooLarge, .shutDown, .other: true
        }
    }
}
