/// The ways to name a user.
///
/// - Source: `/users/me`, `/users/{userID}` and `/users/{accountType}:{address}`
public enum UserReference: Sendable, Hashable {
    /// Whom the token belongs to; not with an administrator's token.
    case me
    /// By the ID that the cloud chose.
    case id(String)
    /// By login name.
    case loginName(String)
    /// By verified e-mail address.
    case emailAddress(String)
    /// By verified phone number, in the international form that begins with `+`.
    case phoneNumber(String)

    func path(in app: KiiApp) -> KiiPath {
        let users = KiiPath.app(app).appending("users")
        switch self {
        case .me: return users.appending("me")
        case .id(let id): return users.appending(id, as: .userID)
        case .loginName(let name): return users.appending("LOGIN_NAME:\(name)", as: .loginName)
        case .emailAddress(let address): return users.appending("EMAIL:\(address)", as: .username)
        case .phoneNumber(let number): return users.appending("PHONE:\(number)", as: .username)
        }
    }

    func validate() throws(KiiInputError) {
        switch self {
        case .loginName(""): throw KiiInputError(.loginName, rule: "not empty")
        case .emailAddress(""), .phoneNumber(""): throw KiiInputError(.username, rule: "not empty")
        case .me, .id, .loginName, .emailAddress, .phoneNumber: return
        }
    }
}

/// A user as the cloud knows them.
public struct KiiUser: Sendable, Hashable {
    /// The ID that the cloud chose.
    public var userID: String
    /// The name that signs in, if there is one.
    public var loginName: String?
    /// The e-mail address. `nil` without one, and for a stranger.
    public var emailAddress: String?
    /// Whether the address was verified. `nil` when the cloud did not say.
    public var isEmailAddressVerified: Bool?
    /// The phone number. `nil` without one, and for a stranger.
    public var phoneNumber: String?
    /// Whether the number was verified. `nil` when the cloud did not say.
    public var isPhoneNumberVerified: Bool?
    /// Whether the user has a password; a pseudo user has none. `nil` when the cloud did not say.
    public var hasPassword: Bool?
    /// What the app keeps about the user. A stranger sees the display name alone, unless the app is set otherwise.
    public var profile: UserProfile

    /// Describes a user.
    public init(userID: String, loginName: String? = nil, profile: UserProfile = UserProfile()) {
        self.userID = userID
        self.loginName = loginName
        self.profile = profile
    }
}

/// Reads what the cloud knows about a user. With ``UserReference/me`` it tells whether a token is good, and whose.
///
/// - Source: `GET /apps/{appID}/users/me`, `/users/{userID}` and `/users/{accountType}:{address}`
public struct GetUser: KiiEndpoint {
    /// Which one.
    public var reference: UserReference

    /// Makes the call. Default: whom the token belongs to.
    public init(_ reference: UserReference = .me) {
        self.reference = reference
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200.
    public var successStatuses: Set<Int> { [200] }

    /// The user's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app) }

    /// Refuses an empty name.
    public func validate() throws(KiiInputError) { try self.reference.validate() }

    /// Reads `userID` and what else is there.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> KiiUser {
        let fields = try response.fields()
        var user = KiiUser(
            userID: try fields.string("userID"),
            loginName: try fields.optionalString("loginName"),
            profile: try UserProfile(fields)
        )
        user.emailAddress = try fields.optionalString("emailAddress")
        user.isEmailAddressVerified = try fields.optionalBool("emailAddressVerified")
        user.phoneNumber = try fields.optionalString("phoneNumber")
        user.isPhoneNumberVerified = try fields.optionalBool("phoneNumberVerified")
        user.hasPassword = try fields.optionalBool("_hasPassword")
        return user
    }
}
