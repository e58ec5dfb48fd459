import KiiPushCommandLine
import KiiPushCore

extension CloudSession {
    typealias Sender = (session: KiiSession, role: String)

    /// The session for calls that the cloud grants only to the administrator by default. Without the administrator's
    /// credentials it is the profile's own session, which may have the right too.
    func adminOrOwn() throws -> Sender {
        if let admin = self.admin { return (admin, "the app's admin") }
        return (try self.own(), "the profile's own user or thing")
    }

    /// The profile's own session in its own scope, and ``adminOrOwn()`` in all others.
    func sender(in scope: Scope) throws -> Sender {
        try scope == self.profile.registration?.principal.scope
            ? (self.own(), "the profile's own user or thing") : self.adminOrOwn()
    }

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
