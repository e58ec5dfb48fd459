struct HeldToken: Sendable {
    var token: AccessToken
    var isRefused = false
    /// Whether the cloud may have used up the refresh token.
    var isRefreshInDoubt = false
    var isStored: Bool
    private let renewsFrom: Timestamp?

    /// Kii's SDKs also renew a token when less than 5 min are left.
    private static let margin = Duration.seconds(-300)

    init(stored token: AccessToken) {
        self.token = token
        self.isStored = true
        self.renewsFrom = token.expiresAt.map { $0 + Self.margin }
    }

    /// If a token lasts less than 10 min, the session renews it after half of its life, not 5 min before its end.
    init(new token: AccessToken, at now: Timestamp) {
        self.token = token
        self.isStored = false
        self.renewsFrom = token.expiresAt.map { end in
            let (lifetime, overflow) = end.millisecondsSinceEpoch.subtractingReportingOverflow(
                now.millisecondsSinceEpoch)
            return overflow ? end : max(end + Self.margin, now + .milliseconds(lifetime / 2))
        }
    }

    func needsRenewal(at now: Timestamp) -> Bool {
        self.isRefused || self.renewsFrom.map { now >= $0 } ?? false
    }
}
