/// Signs in: exchanges proof of identity for an access token.
///
/// - Source: `POST /apps/{appID}/oauth2/token`. `/oauth2/token` is the same; this one names the app in its path.
public struct RequestToken: KiiEndpoint {
    /// What proves the identity.
    public enum Grant: Sendable, Hashable {
        /// A user's name and password. The name is a login name, an e-mail address or an international phone number as
        /// it is, or one that says which: ``user(emailAddress:password:)``, ``user(phoneNumber:password:)``.
        case user(name: String, password: Secret)
        /// A thing's vendor thing ID and password.
        case thing(vendorThingID: String, password: Secret)
        /// An app administrator's ClientID and ClientSecret, from the developer portal.
        case administrator(clientID: String, clientSecret: Secret)
        /// The app itself: a token for what anybody may do who has the app's ID and key.
        case anonymous(KiiApp)
        /// A refresh token, and whose it is, since the answer does not tell users from things.
        case refresh(Secret, of: Principal?)
    }

    /// What proves the identity.
    public var grant: Grant
    /// When the new token is to end. Default `nil`: as the app is configured, usually never.
    public var expiresAt: Timestamp?

    /// Makes the call.
    public init(_ grant: Grant, expiresAt: Timestamp? = nil) {
        self.grant = grant
        self.expiresAt = expiresAt
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// True, since a further token harms nobody; not for a refresh token, which works once.
    public var isIdempotent: Bool {
        if case .refresh = self.grant { false } else { true }
    }
    /// 200.
    public var successStatuses: Set<Int> { [200] }

    /// The app's ID and key, except for an administrator and an anonymous caller: RFC 6749 section 2.3 allows one proof of a client only.
    public var authorization: KiiAuthorization {
        switch self.grant {
        case .administrator, .anonymous: .none
        case .user, .thing, .refresh: .app
        }
    }

    /// The password, client secret or refresh token.
    public var secrets: [Secret] {
        switch self.grant {
        case .user(_, let secret), .thing(_, let secret), .administrator(_, let secret), .refresh(let secret, _):
            [secret]
        case .anonymous(let app): [app.appKey]
        }
    }

    /// The form that Kii's reference documents.
    public var body: KiiBody {
        var fields: [(String, JSONValue)]
        switch self.grant {
        case .user(let name, let password):
            fields = [
                ("grant_type", "password"), ("username", JSONValue(name)), ("password", JSONValue(password.reveal())),
            ]
        case .thing(let vendorThingID, let password):
            fields = [
                ("grant_type", "password"), ("username", JSONValue("VENDOR_THING_ID:" + vendorThingID)),
                ("password", JSONValue(password.reveal())),
            ]
        case .administrator(let clientID, let clientSecret):
            fields = RequestToken.clientFields(clientID, clientSecret)
        case .anonymous(let app): fields = RequestToken.clientFields(app.appID, app.appKey)
        case .refresh(let token, _):
            fields = [("grant_type", "refresh_token"), ("refresh_token", JSONValue(token.reveal()))]
        }
        // Milliseconds here, though the answer's `expires_in` is in seconds.
        if let expiresAt { fields.append(("expiresAt", JSONValue(expiresAt.millisecondsSinceEpoch))) }
        return .json(.object(fields), mediaType: "application/vnd.kii.OauthTokenRequest+json")
    }

    private static func clientFields(_ id: String, _ secret: Secret) -> [(String, JSONValue)] {
        [
            ("grant_type", "client_credentials"), ("client_id", JSONValue(id)),
            ("client_secret", JSONValue(secret.reveal())),
        ]
    }

    /// `/apps/{appID}/oauth2/token`.
    public func path(in app: KiiApp) -> KiiPath {
        .app(app).appending("oauth2", "token")
    }

    /// Refuses empty names and secrets, and a vendor thing ID that no thing can have.
    public func validate() throws(KiiInputError) {
        switch self.grant {
        case .user(let name, let password):
            try RequestToken.refuseEmpty(name, .username)
            try RequestToken.refuseEmpty(password.reveal(), .password)
        case .thing(let vendorThingID, let password):
            try ThingRegistration.validate(vendorThingID: vendorThingID)
            try RequestToken.refuseEmpty(password.reveal(), .password)
        case .administrator(let clientID, let clientSecret):
            try RequestToken.refuseEmpty(clientID, .clientID)
            try RequestToken.refuseEmpty(clientSecret.reveal(), .clientSecret)
        // The client checks the app.
        case .anonymous: break
        case .refresh(let token, _): try RequestToken.refuseEmpty(token.reveal(), .refreshToken)
        }
    }

    private static func refuseEmpty(_ text: String, _ field: KiiInputError.Field) throws(KiiInputError) {
        if text.isEmpty { throw KiiInputError(field, rule: "present and not empty") }
    }

    /// Reads `id`, `access_token`, `refresh_token` and `expires_in`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> AccessToken {
        let fields = try response.fields()
        var principal: Principal?
        switch self.grant {
        case .user: principal = .user(try fields.string("id"))
        case .thing: principal = .thing(try fields.string("id"))
        case .administrator, .anonymous: principal = nil
        case .refresh(_, let owner): principal = owner
        }
        return AccessToken(
            principal: principal,
            token: Secret(try fields.string("access_token")),
            refreshToken: try fields.optionalString("refresh_token").map { Secret($0) },
            expiresAt: Self.expiry(seconds: try fields.optionalSeconds("expires_in"), from: response.receivedAt)
        )
    }

    /// `nil` for a moment that no `Timestamp` holds: real answers have `expires_in` up to 9223372036854775.
    private static func expiry(seconds: Int64?, from now: Timestamp) -> Timestamp? {
        guard let seconds else { return nil }
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        let end = now.millisecondsSinceEpoch.addingReportingOverflow(milliseconds.partialValue)
        guard !milliseconds.overflow, !end.overflow else { return nil }
        return Timestamp(millisecondsSinceEpoch: end.partialValue)
    }
}

extension RequestToken.Grant {
    /// A user's e-mail address and password, where the address could be taken for a login name.
    ///
    /// - Source: Kii's guide on signing in, `EMAIL:{address}`
    public static func user(emailAddress: String, password: Secret) -> Self {
        .user(name: "EMAIL:" + emailAddress, password: password)
    }

    /// A user's phone number and password, where the number could be taken for a login name.
    ///
    /// - Parameters:
    ///   - phoneNumber: An international number such as `+819012345678`, or a country and a local one such as
    ///     `JP-09012345678`.
    ///   - password: The password.
    /// - Source: Kii's guide on signing in, `PHONE:{number}`
    public static func user(phoneNumber: String, password: Secret) -> Self {
        .user(name: "PHONE:" + phoneNumber, password: password)
    }
}
