/// What proves to the cloud who makes a call.
public struct AccessToken: Sendable, Hashable {
    /// Who the token belongs to; `nil` for an app administrator.
    public var principal: Principal?
    /// The token itself, for the `Authorization: Bearer` field.
    public var token: Secret
    /// What gets the next token without a password. Works once. `nil` when the app does not hand them out, and for
    /// things and pseudo users.
    public var refreshToken: Secret?
    /// When the token ends. `nil` when it does not, or when the cloud did not say.
    public var expiresAt: Timestamp?

    /// Makes a token from its parts, such as from a credential store.
    public init(principal: Principal?, token: Secret, refreshToken: Secret? = nil, expiresAt: Timestamp? = nil) {
        (self.principal, self.token) = (principal, token)
        (self.refreshToken, self.expiresAt) = (refreshToken, expiresAt)
    }
}
