/// Registers a user who signs in with a name and a password. It returns no token; sign in to get one.
///
/// - Source: `POST /apps/{appID}/users`
public struct RegisterUser: KiiEndpoint {
    /// Who is to be registered.
    public var registration: UserRegistration

    /// Makes the call.
    public init(_ registration: UserRegistration) {
        self.registration = registration
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// The app's ID and key.
    public var authorization: KiiAuthorization { .app }
    /// 201; 200 is taken as well, as by Kii's SDKs.
    public var successStatuses: Set<Int> { [200, 201] }
    /// The password.
    public var secrets: [Secret] { [self.registration.password] }

    /// The registration.
    public var body: KiiBody {
        .json(.object(self.registration.fields), mediaType: "application/vnd.kii.RegistrationRequest+json")
    }

    /// `/apps/{appID}/users`.
    public func path(in app: KiiApp) -> KiiPath {
        .app(app).appending("users")
    }

    /// Refuses names and passwords that Kii's SDKs refuse.
    public func validate() throws(KiiInputError) {
        try self.registration.validate()
    }

    /// Reads `userID` and, where it is there, `loginName`: old servers send the first alone.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> RegisteredUser {
        let fields = try response.fields()
        return RegisteredUser(
            userID: try fields.string("userID"),
            loginName: try fields.optionalString("loginName") ?? self.registration.loginName
        )
    }
}

/// A user as the cloud registered them.
public struct RegisteredUser: Sendable, Hashable {
    /// The ID that the cloud chose.
    public var userID: String
    /// The name that signs in, if there is one.
    public var loginName: String?

    /// Names a user.
    public init(userID: String, loginName: String?) {
        self.userID = userID
        self.loginName = loginName
    }
}

/// Registers a pseudo user: one without name and password, who has nothing but the token that is returned.
///
/// Whoever loses that token has lost the user; keep it before anything else is done.
///
/// - Source: `POST /apps/{appID}/users` with another media type
public struct RegisterPseudoUser: KiiEndpoint {
    /// What the app keeps about the user.
    public var profile: UserProfile

    /// Makes the call.
    public init(_ profile: UserProfile = UserProfile()) {
        self.profile = profile
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// The app's ID and key.
    public var authorization: KiiAuthorization { .app }
    /// 201; 200 is taken as well, as by Kii's SDKs.
    public var successStatuses: Set<Int> { [200, 201] }

    /// The profile, usually `{}`.
    public var body: KiiBody {
        .json(
            .object(self.profile.fields), mediaType: "application/vnd.kii.RegistrationAndAuthorizationRequest+json")
    }

    /// `/apps/{appID}/users`.
    public func path(in app: KiiApp) -> KiiPath {
        .app(app).appending("users")
    }

    /// Refuses custom fields that are no object or use Kii's names.
    public func validate() throws(KiiInputError) {
        try self.profile.validate()
    }

    /// Reads `userID`, `_accessToken` and, where it is there, `_refreshToken`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> AccessToken {
        let fields = try response.fields()
        return AccessToken(
            principal: .user(try fields.string("userID")),
            token: Secret(try fields.string("_accessToken")),
            refreshToken: try fields.optionalString("_refreshToken").map { Secret($0) }
        )
    }
}
