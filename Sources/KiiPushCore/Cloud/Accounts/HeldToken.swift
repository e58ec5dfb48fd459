struct HeldToken: Sendable {
    var token: AccessToken
    var isRefused = false
    /// Whether the client sent the refresh token and got no answer: the cloud may have used it up.
    var isRefreshInDoubt = false
    /// Whether the token is stored outside the process.
    var isStored: Bool
    /// The time from which the session renews the token; `nil` if the token never ends.
    private let renewsFrom: Timestamp?

    /// Kii's own SDKs renew when less than 5 min are left.
    private static let margin = Duration.seconds(-300)

    /// A token from the caller's store.
    init(stored token: AccessToken) {
        self.token = token
        self.isStored = true
        self.renewsFrom = token.expiresAt.map { $0 + Self.margin }
    }

    /// A token that the cloud issued at `now`. If it lasts less than twice the margin, the session renews it after half
    /// its life; otherwise it would renew it before every call.
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
