/// Credentials for signing in.
public enum LoginGrant: Sendable, Hashable {
    /// A user's name and password. The name is a login name, an e-mail address or a phone number.
    ///
    /// The prefix `EMAIL:` or `PHONE:` marks a name that could also be a login name. A phone number is international
    /// (`+819012345678`), or has a country code (`JP-09012345678`).
    ///
    /// - Source: Kii's guide on signing in
    case user(name: String, password: Secret)
    /// A thing's vendor thing ID and password.
    case thing(vendorThingID: String, password: Secret)
    /// An app administrator's client ID and client secret, from Kii's developer portal.
    case administrator(clientID: String, clientSecret: Secret)
    /// The app itself. Everybody with the app's ID and key has the rights of this token.
    case anonymous
}

extension KiiClient {
    /// Signs in a user, a thing, an app administrator or the app itself.
    ///
    /// Without `expiresAt`, the app's configuration decides when the token expires. Usually the token never expires.
    ///
    /// - Throws: ``KiiError`` with status 400 or 401 when the cloud refuses the credentials.
    /// - Source: `POST /apps/{appID}/oauth2/token`
    public func login(_ grant: LoginGrant, expiresAt: Timestamp? = nil) async throws -> AccessToken {
        switch grant {
        case .user(let name, let password):
            try KiiInputError.require(name, .username)
            return try await self.login(name: name, password, expiresAt) { .user($0) }
        case .thing(let vendorThingID, let password):
            try ThingRegistration.validate(vendorThingID: vendorThingID)
            return try await self.login(name: "VENDOR_THING_ID:" + vendorThingID, password, expiresAt) { .thing($0) }
        case .administrator(let clientID, let clientSecret):
            try KiiInputError.require(clientID, .clientID)
            try KiiInputError.require(clientSecret.reveal(), .clientSecret)
            return try await self.login(clientID: clientID, clientSecret, expiresAt)
        case .anonymous:
            return try await self.login(clientID: self.app.appID, self.app.appKey, expiresAt)
        }
    }

    /// Exchanges a refresh token for a new access token. Both old tokens are invalid afterwards.
    ///
    /// - Throws: ``KiiInputError`` when `token` has no refresh token; ``KiiError`` with `WRONG_REFRESH_TOKEN` when the
    ///   refresh token is used up.
    /// - Source: `POST /apps/{appID}/oauth2/token`
    public func refresh(_ token: AccessToken) async throws -> AccessToken {
        let refreshToken = token.refreshToken ?? Secret("")
        try KiiInputError.require(refreshToken.reveal(), .refreshToken)
        let members = [("grant_type", "refresh_token"), ("refresh_token", JSONValue(refreshToken.reveal()))]
        return try await self.perform(
            .token(members, nil, secret: refreshToken) { _ throws(KiiResponseError) in token.principal }.with {
                // A refresh token works once.
                $0.isIdempotent = false
            })
    }

    private func login(
        name: String, _ password: Secret, _ expiresAt: Timestamp?, _ owner: @escaping @Sendable (String) -> Principal
    ) async throws -> AccessToken {
        try KiiInputError.require(password.reveal(), .password)
        let members = [
            ("grant_type", "password"), ("username", JSONValue(name)), ("password", JSONValue(password.reveal())),
        ]
        return try await self.perform(
            .token(members, expiresAt, secret: password) { fields throws(KiiResponseError) in
                owner(try fields.string("id"))
            })
    }

    private func login(clientID: String, _ secret: Secret, _ expiresAt: Timestamp?) async throws -> AccessToken {
        let members = [
            ("grant_type", "client_credentials"), ("client_id", JSONValue(clientID)),
            ("client_secret", JSONValue(secret.reveal())),
        ]
        return try await self.perform(
            .token(members, expiresAt, secret: secret) { _ throws(KiiResponseError) in nil }.with {
                // RFC 6749 section 2.3 allows only one method of client authentication. The body already has the
                // credentials.
                $0.authorization = .none
            })
    }
}

extension KiiCall where Answer == AccessToken {
    /// By default the client may repeat the call: a second token does no harm.
    fileprivate static func token(
        _ members: JSONMembers, _ expiresAt: Timestamp?, secret: Secret,
        of owner: @escaping @Sendable (KiiFields) throws(KiiResponseError) -> Principal?
    ) -> Self {
        Self(.post, KiiPath("oauth2", "token"), statuses: [200]) { response throws(KiiResponseError) in
            let fields = try response.fields()
            return AccessToken(
                principal: try owner(fields), token: try fields.secret("access_token"),
                refreshToken: try fields.optionalString("refresh_token").map { Secret($0) },
                expiresAt: expiry(seconds: try fields.optionalSeconds("expires_in"), from: response.receivedAt))
        }.with {
            $0.authorization = .app
            $0.isIdempotent = true
            $0.secrets = [secret]
            let end = JSONMembers(present: ["expiresAt": expiresAt?.millisecondsSinceEpoch])
            $0.body = .kii("OauthTokenRequest", members + end)
        }
    }
}

/// The time when a token expires; `nil` if there is none, or `Timestamp` cannot represent it. Real answers have
/// `expires_in` up to 9223372036854775 s.
private func expiry(seconds: Int64?, from now: Timestamp) -> Timestamp? {
    guard let seconds else { return nil }
    let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
    let end = now.millisecondsSinceEpoch.addingReportingOverflow(milliseconds.partialValue)
    guard !milliseconds.overflow, !end.overflow else { return nil }
    return Timestamp(millisecondsSinceEpoch: end.partialValue)
}
