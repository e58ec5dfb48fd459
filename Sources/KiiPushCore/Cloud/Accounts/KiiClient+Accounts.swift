extension KiiClient {
    /// Registers a user who signs in with a name and a password.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/userAlreadyExists`` when the name, address or number is taken;
    ///   otherwise see ``KiiClient``.
    public func registerUser(_ registration: UserRegistration) async throws -> RegisteredUser {
        try await self.execute(RegisterUser(registration))
    }

    /// Registers a pseudo user and returns the token that is all it has; keep it before anything else is done.
    ///
    /// - Throws: See ``KiiClient``.
    public func registerPseudoUser(_ profile: UserProfile = UserProfile()) async throws -> AccessToken {
        try await self.execute(RegisterPseudoUser(profile))
    }

    /// Registers a thing and signs it in.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/thingAlreadyExists`` when the vendor thing ID is taken; otherwise see
    ///   ``KiiClient``.
    public func registerThing(_ registration: ThingRegistration) async throws -> RegisteredThing {
        try await self.execute(RegisterThing(registration))
    }

    /// Signs in a user, a thing or an app administrator.
    ///
    /// - Parameters:
    ///   - grant: What proves the identity.
    ///   - expiresAt: When the token is to end. Default `nil`: as the app is configured, usually never.
    /// - Throws: ``KiiError`` with status 400 or 401 when the proof is refused; otherwise see ``KiiClient``.
    public func login(_ grant: RequestToken.Grant, expiresAt: Timestamp? = nil) async throws -> AccessToken {
        try await self.execute(RequestToken(grant, expiresAt: expiresAt))
    }

    /// Signs in a user by login name, e-mail address or phone number.
    ///
    /// - Throws: As ``login(_:expiresAt:)``.
    public func login(username: String, password: Secret) async throws -> AccessToken {
        try await self.login(.user(name: username, password: password))
    }

    /// Signs in a thing by its vendor thing ID.
    ///
    /// - Throws: As ``login(_:expiresAt:)``.
    public func login(vendorThingID: String, password: Secret) async throws -> AccessToken {
        try await self.login(.thing(vendorThingID: vendorThingID, password: password))
    }

    /// Signs in an app administrator, who may do everything within the app.
    ///
    /// - Throws: As ``login(_:expiresAt:)``.
    public func login(clientID: String, clientSecret: Secret) async throws -> AccessToken {
        try await self.login(.administrator(clientID: clientID, clientSecret: clientSecret))
    }

    /// Gets a token for what anybody may do who has the app's ID and key.
    ///
    /// - Throws: As ``login(_:expiresAt:)``.
    public func loginAnonymously() async throws -> AccessToken {
        try await self.login(.anonymous(self.app))
    }

    /// Exchanges a token for a new one by its refresh token. Both old ones are void afterwards.
    ///
    /// - Throws: ``KiiInputError`` when `token` has no refresh token; ``KiiError`` with
    ///   ``KiiErrorCode/wrongRefreshToken`` when it was used before; otherwise see ``KiiClient``.
    public func refresh(_ token: AccessToken) async throws -> AccessToken {
        try await self.login(.refresh(token.refreshToken ?? Secret(""), of: token.principal))
    }

    /// Reads what the cloud knows about a user; by default about the one whom the token belongs to, which is how a token
    /// is found good.
    ///
    /// - Throws: ``KiiError`` with status 401 or 403 when the token is not good, with ``KiiErrorCode/userNotFound`` when
    ///   there is no such user; otherwise see ``KiiClient``.
    public func user(_ reference: UserReference = .me, token: Secret) async throws -> KiiUser {
        try await self.execute(GetUser(reference), token: token)
    }

    /// Changes a user's password. Every token of the user ends, this one included.
    ///
    /// - Parameters:
    ///   - oldPassword: The password so far; `nil` with an administrator's token.
    ///   - newPassword: The password from now on: 4 to 50 printable ASCII characters.
    ///   - user: Whose. Default: the token's.
    ///   - token: The user's or an administrator's token.
    /// - Throws: ``KiiError`` with ``KiiErrorCode/wrongPassword``; otherwise see ``KiiClient``.
    public func changePassword(
        from oldPassword: Secret?,
        to newPassword: Secret,
        of user: UserReference = .me,
        token: Secret
    ) async throws {
        try await self.execute(ChangePassword(from: oldPassword, to: newPassword, of: user), token: token)
    }

    /// Reads what the cloud knows about a thing.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/thingNotFound`` when there is no such thing; otherwise see
    ///   ``KiiClient``.
    public func thing(_ reference: ThingReference, token: Secret) async throws -> KiiThing {
        try await self.execute(GetThing(reference), token: token)
    }
}
