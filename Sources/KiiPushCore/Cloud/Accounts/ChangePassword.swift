/// Changes a user's password. Every token of the user ends, the one that was used included: sign in again.
///
/// - Source: `PUT /apps/{appID}/users/me/password` and `/users/{userID}/password`
public struct ChangePassword: KiiEndpoint {
    /// Nothing.
    public typealias Response = Void

    /// Whose password.
    public var user: UserReference
    /// The password so far. `nil` for an administrator, who needs none.
    public var oldPassword: Secret?
    /// The password from now on: 4 to 50 printable ASCII characters.
    public var newPassword: Secret

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - oldPassword: The password so far; `nil` with an administrator's token.
    ///   - newPassword: The password from now on.
    ///   - user: Whose. Default: the token's.
    public init(from oldPassword: Secret?, to newPassword: Secret, of user: UserReference = .me) {
        self.user = user
        self.oldPassword = oldPassword
        self.newPassword = newPassword
    }

    /// PUT.
    public var method: HTTPMethod { .put }
    /// Not: after the first time neither the token nor the old password is good.
    public var isIdempotent: Bool { false }
    /// 204.
    public var successStatuses: Set<Int> { [204] }
    /// Both passwords.
    public var secrets: [Secret] { (self.oldPassword.map { [$0] } ?? []) + [self.newPassword] }

    /// The passwords.
    public var body: KiiBody {
        var fields: [(String, JSONValue)] = [("newPassword", JSONValue(self.newPassword.reveal()))]
        if let oldPassword { fields.append(("oldPassword", JSONValue(oldPassword.reveal()))) }
        return .json(.object(fields), mediaType: "application/vnd.kii.ChangePasswordRequest+json")
    }

    /// The user's password.
    public func path(in app: KiiApp) -> KiiPath { self.user.path(in: app).appending("password") }

    /// Refuses a new password that Kii refuses, and an empty name.
    public func validate() throws(KiiInputError) {
        try self.user.validate()
        try UserRegistration.validate(password: self.newPassword)
    }
}
