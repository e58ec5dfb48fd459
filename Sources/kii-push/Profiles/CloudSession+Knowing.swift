import KiiPushCommandLine
import KiiPushCore

enum SubscriptionSource: String, Sendable { case profile, configuration, cloud }

typealias SubscriptionCandidate = (target: SubscriptionTarget, source: SubscriptionSource)

extension CloudSession {
    /// The possible subscriptions of the profile, without duplicates. First come those made through the profile, then
    /// `declared`, then the topics that the cloud lists in `scopes`.
    func candidates(declared: [SubscriptionTarget], scopes: [Scope]) async throws -> [SubscriptionCandidate] {
        var seen: Set<SubscriptionTarget> = []
        var candidates: [SubscriptionCandidate] = []
        func add(_ target: SubscriptionTarget, _ source: SubscriptionSource) {
            if seen.insert(target).inserted { candidates.append((target, source)) }
        }
        for target in try KnownSubscriptions(directory: self.profile.directory).read() { add(target, .profile) }
        for target in declared { add(target, .configuration) }
        for scope in scopes {
            for try await topic in try self.own().topics(in: scope) where self.isUsable(topic) {
                add(.topic(topic), .cloud)
            }
        }
        return candidates
    }

    func isUsable(_ topic: Topic) -> Bool {
        guard !Topic.isValidID(topic.id) else { return true }
        let name = SubscriptionTarget.topic(topic).text
        self.console.warning("the cloud lists a topic whose ID cannot be one, which is left out: \(name)")
        return false
    }

    func ownScopes() throws -> [Scope] { [.app, try self.registration().principal.scope] }

    /// Whether the profile is subscribed to a target. `nil` if a subscription made through the profile has ended, or if
    /// the cloud refuses to tell about such a subscription, as after the user has left the topic's group.
    func isSubscribed(
        _ principal: Principal, to target: SubscriptionTarget, known source: SubscriptionSource
    ) async throws -> Bool? {
        do {
            let isSubscribed = try await self.own().isSubscribed(to: target, as: principal)
            return isSubscribed || source != .profile ? isSubscribed : nil
        } catch let error as KiiError where source == .profile && !error.isTransient {
            self.console.warning("cannot tell about \(target.text): \(error)")
            return nil
        }
    }

    func declared() throws -> DeclaredSubscriptions? {
        try ProfileConfiguration.read(self.profile.location.paths, profile: self.profile.name).subscriptions?.value
    }
}
