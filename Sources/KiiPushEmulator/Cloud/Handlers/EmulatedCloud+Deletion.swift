import KiiPushCore

extension Route {
    static let deletions: [Route] = [
        Route("DELETE", "users/{user}", EmulatedCloud.deleteUser),
        Route("DELETE", "things/{thing}", EmulatedCloud.deleteThing),
    ]
}

/// Deletes users and things with their tokens, installations, subscriptions, topics and buckets. No push is sent, since
/// no source mentions one.
///
/// - Source: Kii's guides on deleting users and things; live tests of thing-node and of Kii's client for Java.
extension EmulatedCloud {
    func deleteUser(_ call: CloudCall) throws(KiiFailure) {
        let user = try self.ownUser(call, "Only the user may delete the account.")
        self.revokeAccess(.user(user.id))
        self.state.remove(user)
    }

    func deleteThing(_ call: CloudCall) throws(KiiFailure) {
        let thing = try self.ownThing(call, "Only the thing and its owners may delete it.")
        self.revokeAccess(.thing(thing.id))
        self.state.remove(thing)
    }

    private func revokeAccess(_ principal: Principal) {
        self.effects.revocations += self.state.installations(of: principal).compactMap { $0.credential?.username }
    }
}
