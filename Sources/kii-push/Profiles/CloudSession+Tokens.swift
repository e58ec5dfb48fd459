import KiiPushCore

extension CloudSession {
    /// A token of the app's administrator; `nil` when nobody's credentials are at hand.
    func adminToken() async throws -> Secret? {
        guard let admin = self.cloud.admin else { return nil }
        return try await self.client.login(clientID: admin.clientID, clientSecret: admin.clientSecret).token
    }

    /// The administrator's token where it is at hand, for what the cloud grants to nobody else by default; else the
    /// profile's own, which may have been given the right.
    func adminTokenOrOwn() async throws -> Secret {
        if let token = try await self.adminToken() { return token }
        return try await self.ownToken()
    }

    /// The profile's own token; the administrator's where the profile is not registered.
    func ownTokenOrAdmin() async throws -> Secret {
        if self.profile.registration == nil, let token = try await self.adminToken() { return token }
        return try await self.ownToken()
    }

    /// The scope that a command line means. Only `me` needs a registration.
    func scope(_ name: ScopeName) throws -> Scope {
        switch name {
        case .user(nil), .thing(nil): try name.resolved(for: self.registration().principal)
        case .app: .app
        case .user(let id?): .user(id)
        case .group(let id): .group(id)
        case .thing(let id?): .thing(id)
        }
    }

    /// The user that the profile receives as.
    func ownUserID() throws -> String {
        guard case .user(let id) = try self.registration().principal else {
            throw CommandFailure(.usage, "'me': this profile receives as a thing, and things get no direct push")
        }
        return id
    }
}
