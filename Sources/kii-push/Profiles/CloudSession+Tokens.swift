import KiiPushCommandLine
import KiiPushCore

extension CloudSession {
    /// The session for a call; the role is for people.
    typealias Sender = (session: KiiSession, role: String)

    /// The administrator, if its credentials are known, for calls that the cloud grants only to it by default.
    /// Otherwise the profile itself, which may have the right too.
    func adminOrOwn() throws -> Sender {
        if let admin = self.admin { return (admin, "the app's admin") }
        return (try self.own(), "the profile's own user or thing")
    }

    /// The profile itself in its own scope, and ``adminOrOwn()`` in any other.
    func sender(in scope: Scope) throws -> Sender {
        let own: Scope? =
            switch self.profile.registration?.principal {
            case .user(let id)?: .user(id)
            case .thing(let id)?: .thing(id)
            case nil: nil
            }
        return try scope == own ? (self.own(), "the profile's own user or thing") : self.adminOrOwn()
    }

    /// The scope of a command line's name. Only `me` needs a registration.
    func scope(_ name: ScopeName) throws -> Scope {
        try name.resolved(for: name.isOfMe ? self.registration().principal : nil)
    }

    func ownUserID() throws -> String {
        guard case .user(let id) = try self.registration().principal else {
            throw CommandFailure(.usage, "'me': this profile receives as a thing, and things get no direct push")
        }
        return id
    }
}
