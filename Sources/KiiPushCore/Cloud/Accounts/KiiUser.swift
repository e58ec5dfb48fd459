/// The ways to name a user.
public enum UserReference: Sendable, Hashable {
    /// The token's owner. Not valid with an administrator's token.
    case me
    /// By the ID that the cloud chose.
    case id(String)
    /// By login name.
    case loginName(String)
    /// By verified e-mail address.
    case emailAddress(String)
    /// By verified phone number, in the international form that begins with `+`.
    case phoneNumber(String)

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

/// A user's data in the cloud. A property is `nil` if the user has no such data, or the cloud did not send it.
public struct KiiUser: Sendable, Hashable {
    /// The ID that the cloud chose.
    public var userID: String
    /// The login name.
    public var loginName: String?
    /// The e-mail address; `nil` if another user reads the data.
    public var emailAddress: String?
    /// Whether the address is verified.
    public var isEmailAddressVerified: Bool?
    /// The phone number; `nil` if another user reads the data.
    public var phoneNumber: String?
    /// Whether the number is verified.
    public var isPhoneNumberVerified: Bool?
    package var hasPassword: Bool?
    /// The app's data about the user. Other users see only the display name, unless the app is configured otherwise.
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
    /// Reads a user's data. With ``UserReference/me`` the answer also shows whether the token is valid, and whose token
    /// it is.
    ///
    /// - Throws: ``KiiError`` with status 401 or 403 when the token is not valid, with `USER_NOT_FOUND` for an unknown
    ///   user.
    /// - Source: `GET /apps/{appID}/users/me`, `/users/{userID}` and `/users/{accountType}:{address}`
    public func user(_ reference: UserReference = .me) async throws -> KiiUser {
        try await self.perform(.reading(reference.path(), KiiUser.init))
    }

    /// Changes a user's password. The cloud then invalidates every token of the user: a session of that user must sign
    /// in again.
    ///
    /// The new password has 4 to 50 printable ASCII characters. With an administrator's token, `oldPassword` is `nil`.
    ///
    /// - Throws: ``KiiError`` with `WRONG_PASSWORD`.
    /// - Source: `PUT /apps/{appID}/users/me/password` and `/users/{userID}/password`
    public func changePassword(
        from oldPassword: Secret?, to newPassword: Secret, of user: UserReference = .me
    ) async throws {
        let path = try user.path().appending("password")
        try UserRegistration.validate(password: newPassword)
        try await self.perform(
            KiiCall(.put, path, statuses: [204]).with {
                // After the first request neither the user's token nor the old password is valid.
                $0.isIdempotent = false
                $0.secrets = [oldPassword, newPassword].compactMap { $0 }
                $0.body = .kii(
                    "ChangePasswordRequest",
                    JSONMembers(present: ["newPassword": newPassword.reveal(), "oldPassword": oldPassword?.reveal()]))
            })
    }
}
