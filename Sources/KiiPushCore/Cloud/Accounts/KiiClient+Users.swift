extension KiiClient {
    /// Registers a user who signs in with a name and a password. The user gets a token only by signing in.
    ///
    /// - Returns: the user's ID.
    /// - Throws: ``KiiError`` with `USER_ALREADY_EXISTS` when another user has the name, address or number.
    /// - Source: `POST /apps/{appID}/users`
    public func registerUser(_ registration: UserRegistration) async throws -> String {
        try registration.validate()
        let call = KiiCall(.post, KiiPath("users"), statuses: [200, 201]) { response throws(KiiResponseError) in
            try response.fields().string("userID")
        }.with {
            $0.authorization = .app
            $0.secrets = [registration.password]
            $0.body = .kii("RegistrationRequest", registration.fields)
        }
        return try await self.perform(call)
    }

    /// Registers a pseudo user: a user without name and password.
    ///
    /// Store the returned token at once: nobody can act as the user without the token.
    ///
    /// - Source: `POST /apps/{appID}/users` with the media type of `RegistrationAndAuthorizationRequest`
    public func registerPseudoUser(_ profile: UserProfile = UserProfile()) async throws -> AccessToken {
        try profile.validate()
        let call = KiiCall(.post, KiiPath("users"), statuses: [200, 201]) { response throws(KiiResponseError) in
            let fields = try response.fields()
            return AccessToken(
                principal: .user(try fields.string("userID")), token: try fields.secret("_accessToken"),
                refreshToken: try fields.optionalString("_refreshToken").map { Secret($0) })
        }.with {
            $0.authorization = .app
            $0.body = .kii("RegistrationAndAuthorizationRequest", profile.fields)
        }
        return try await self.perform(call)
    }
}
