/// A token that proves a caller's identity to the cloud.
public struct AccessToken: Sendable, Hashable {
    /// The token's owner; `nil` for an app administrator.
    public var principal: Principal?
    /// The token's text, which follows `Bearer` in the `Authorization` field.
    public var token: Secret
    /// A token that gets the next access token without a password. Works once. `nil` if the cloud issued none.
    public var refreshToken: Secret?
    /// The time when the token expires. `nil` if the token never expires, or the cloud named no time.
    public var expiresAt: Timestamp?

    /// Makes a token from its parts, such as from a credential store.
    public init(principal: Principal?, token: Secret, refreshToken: Secret? = nil, expiresAt: Timestamp? = nil) {
        (self.principal, self.token) = (principal, token)
        (self.refreshToken, self.expiresAt) = (refreshToken, expiresAt)
    }
}
