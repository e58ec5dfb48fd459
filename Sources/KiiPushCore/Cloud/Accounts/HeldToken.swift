/// A token and what is known about it besides.
struct HeldToken: Sendable {
    var token: AccessToken
    /// Whether the cloud refused it.
    var isRefused = false
    /// Whether its refresh token was sent and the answer did not come: it may have been used up.
    var isRefreshInDoubt = false
    /// Whether it is where it outlives the process.
    var isStored: Bool
    /// From when on it is to be renewed; `nil` when it does not end.
    private let renewsFrom: Timestamp?

    /// Kii's own SDKs renew when less than 5 min are left.
    private static let margin = Duration.seconds(-300)

    /// A token from where it was stored.
    init(stored token: AccessToken) {
        self.token = token
        self.isStored = true
        self.renewsFrom = token.expiresAt.map { $0 + Self.margin }
    }

    /// A token as the cloud gave it at `now`. One that lasts for less than twice the margin is used for half its time,
    /// or it would be renewed before every call.
    init(new token: AccessToken, at now: Timestamp) {
        self.token = token
        self.isStored = false
        self.renewsFrom = token.expiresAt.map { end in
            let (lifetime, overflow) = end.millisecondsSinceEpoch.subtractingReportingOverflow(
                now.millisecondsSinceEpoch)
            return overflow ? end : max(end + Self.margin, now + .milliseconds(lifetime / 2))
        }
    }

    /// Whether it is time for another token.
    func needsRenewal(at now: Timestamp) -> Bool {
        self.isRefused || self.renewsFrom.map { now >= $0 } ?? false
    }
}
