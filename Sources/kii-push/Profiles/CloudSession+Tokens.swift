import KiiPushCore

extension CloudSession {
    /// The administrator's session where one is at hand, for what the cloud grants to nobody else by default; else the
    /// profile's own, which may have been given the right.
    func adminOrOwn() throws -> KiiSession { try self.admin ?? self.own() }

    /// The profile's own session; the administrator's where the profile is not registered.
    func ownOrAdmin() throws -> KiiSession {
        if self.profile.registration == nil, let admin = self.admin { return admin }
        return try self.own()
    }

    /// Whose token a call is made with.
    enum Role {
        case admin
        case own

        /// For people.
        var text: String {
            switch self {
            case .admin: "the app's admin"
            case .own: "the profile's own user or thing"
            }
        }
    }

    /// Who ``adminOrOwn()`` is.
    var adminOrOwnRole: Role { self.admin == nil ? .own : .admin }

    /// Who ``ownOrAdmin()`` is.
    var ownOrAdminRole: Role { self.profile.registration == nil && self.admin != nil ? .admin : .own }

    /// The scope that a command line means. Only `me` needs a registration.
    func scope(_ name: ScopeName) throws -> Scope {
        switch name {
        case .user(nil), .thing(nil): try name.resolved(for: self.registration().principal)
        default: try name.resolved(for: nil)
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
