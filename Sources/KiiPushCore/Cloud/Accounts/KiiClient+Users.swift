extension KiiClient {
    /// Registers a user who signs in with a name and a password. It gets no token; sign in to get one.
    ///
    /// - Returns: The ID that the cloud chose.
    /// - Throws: ``KiiError`` with `USER_ALREADY_EXISTS` when the name, address or number is taken.
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

    /// Registers a pseudo user: one without name and password, who has nothing but the token that is returned. Whoever
    /// loses that token has lost the user; keep it before anything else is done.
    ///
    /// - Parameter profile: What the app keeps about the user. Default: nothing.
    /// - Source: `POST /apps/{appID}/users` with another media type
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
