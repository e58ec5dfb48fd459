extension KiiError {
    /// Whether the cloud may have carried out the call. Some gateways send 408 when their cloud does not answer in
    /// time. A server that sends 501, 511 (RFC 6585 section 6) or a time to retry did nothing.
    var isOutcomeUnknown: Bool {
        (self.status == 408 || (500..<600).contains(self.status)) && ![501, 511].contains(self.status)
            && self.retryAfter == nil
    }
}

extension TransportError {
    var isOutcomeUnknown: Bool {
        if self.isUnsent || self.isShortage { return false }
        return switch self.code {
        // These failures happen before the client sends the request.
        case .nameNotResolved, .connectionRefused, .certificateNotTrusted, .clientCertificateRequired, .tlsFailed,
            .invalidConfiguration:
            false
        case .timedOut, .connectionLost, .webSocketFailed, .tooLarge, .shutDown, .other: true
        }
    }
}
