import KiiPushCommandLine
import KiiPushCore

enum SubscriptionSource: String, Sendable { case profile, configuration, cloud }

typealias SubscriptionCandidate = (target: SubscriptionTarget, source: SubscriptionSource)

extension CloudSession {
    /// The targets of which the profile may be a subscriber, each once: what was subscribed through it, then `declared`,
    /// then the topics that the cloud lists in `scopes`.
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

    /// Whether the cloud can be asked about a topic that it has listed; one about which it cannot is told of.
    func isUsable(_ topic: Topic) -> Bool {
        guard !Topic.isValidID(topic.id) else { return true }
        let name = SubscriptionTarget.topic(topic).text
        self.console.warning("the cloud lists a topic whose ID cannot be one, which is left out: \(name)")
        return false
    }

    /// The scopes whose topics are looked through unless others are named: the app's and the principal's own.
    func ownScopes() throws -> [Scope] {
        switch try self.registration().principal {
        case .user(let id): [.app, .user(id)]
        case .thing(let id): [.app, .thing(id)]
        }
    }

    /// Whether the profile is subscribed to a target; `nil` where nobody needs to know: it was subscribed through the profile
    /// once and is so no more, or the cloud refuses to answer, as about a topic of a group that the user has left.
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

    /// Writes down what became of a subscription. It holds all the same where that fails, so that is no failure.
    func remember(_ target: SubscriptionTarget, isSubscribed: Bool) {
        do {
            try KnownSubscriptions(directory: self.profile.directory).note(target, isSubscribed: isSubscribed)
        } catch {
            let reason = CommandFailure(describing: error).message
            self.console.warning("'kii-push subscriptions' may not find \(target.text): \(reason)")
        }
    }

    func declared() throws -> DeclaredSubscriptions? {
        try ProfileConfiguration.read(self.profile.location.paths, profile: self.profile.name).subscriptions?.value
    }
}
