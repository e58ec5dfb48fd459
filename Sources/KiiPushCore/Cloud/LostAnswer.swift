extension KiiError {
    /// Whether the cloud may have carried the call out: it failed, and does not say when to come again, which it says
    /// when it has done nothing.
    var leavesOutcomeOpen: Bool {
        (500..<600).contains(self.status) && self.status != 501 && self.retryAfter == nil
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
        case .timedOut, .connectionLost, .tooLarge, .shutDown, .other: true
        }
    }
}
