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

    /// - Throws: ``KiiInputError`` for an empty name.
    func path() throws(KiiInputError) -> KiiPath {
        let users = KiiPath("users")
        switch self {
        case .me: return users.appending("me")
        case .id(let id): return users.appending(id, as: .userID)
        case .loginName(let name): return try users.appending("LOGIN_NAME:", name, as: .loginName)
        case .emailAddress(let address): return try users.appending("EMAIL:", address, as: .username)
        case .phoneNumber(let number): return try users.appending("PHONE:", number, as: .username)
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
    package var hasPassword: Bool?
    /// What the app keeps about the user. A stranger sees the display name alone, unless the app is set otherwise.
    public var profile: UserProfile

    init(_ fields: KiiFields) throws(KiiResponseError) {
        self.userID = try fields.string("userID")
        self.loginName = try fields.optionalString("loginName")
        self.profile = try UserProfile(fields)
        self.emailAddress = try fields.optionalString("emailAddress")
        self.isEmailAddressVerified = try fields.optionalBool("emailAddressVerified")
        self.phoneNumber = try fields.optionalString("phoneNumber")
        self.isPhoneNumberVerified = try fields.optionalBool("phoneNumberVerified")
        self.hasPassword = try fields.optionalBool("_hasPassword")
    }
}

extension KiiSession {
    /// Reads what the cloud knows about a user. With ``UserReference/me`` it tells whether the token is good, and whose.
    ///
    /// - Parameter reference: Which one. Default: whom the token belongs to.
    /// - Throws: ``KiiError`` with status 401 or 403 when the token is not good, with `USER_NOT_FOUND` when
    ///   there is no such user.
    /// - Source: `GET /apps/{appID}/users/me`, `/users/{userID}` and `/users/{accountType}:{address}`
    public func user(_ reference: UserReference = .me) async throws -> KiiUser {
        try await self.perform(.reading(reference.path(), KiiUser.init))
    }

    /// Changes a user's password. Every token of the user ends, the session's own included: sign in again.
    ///
    /// - Parameters:
    ///   - oldPassword: The password so far; `nil` with an administrator's token.
    ///   - newPassword: The password from now on: 4 to 50 printable ASCII characters.
    ///   - user: Whose. Default: the token's.
    /// - Throws: ``KiiError`` with `WRONG_PASSWORD`.
    /// - Source: `PUT /apps/{appID}/users/me/password` and `/users/{userID}/password`
    public func changePassword(
        from oldPassword: Secret?, to newPassword: Secret, of user: UserReference = .me
    ) async throws {
        let path = try user.path().appending("password")
        try UserRegistration.validate(password: newPassword)
        try await self.perform(
            KiiCall(.put, path, statuses: [204]).with {
                // After the first time neither the token nor the old password is good.
                $0.isIdempotent = false
                $0.secrets = [oldPassword, newPassword].compactMap { $0 }
                $0.body = .kii(
                    "ChangePasswordRequest",
                    JSONMembers(present: ["newPassword": newPassword.reveal(), "oldPassword": oldPassword?.reveal()]))
            })
    }
}
